//! `$near: [3, 0.5]`: a number is at most 0.5 away from 3.

const std = @import("std");
const c = @import("matcher");

const allocator = std.heap.c_allocator;

/// A panic is a trap, without the code that would print it.
pub const panic = std.debug.no_panic;

const Near = struct {
    to: f64,
    tolerance: f64,

    /// Reads the argument, which is JSON text.
    fn prepare(text: c.matcher_string_t) ?Near {
        const parsed = parse(text) orelse return null;
        defer parsed.deinit();
        const items = switch (parsed.value) {
            .array => |array| array.items,
            else => return null,
        };
        if (items.len != 2) return null;
        const near = Near{ .to = number(items[0]) orelse return null, .tolerance = number(items[1]) orelse return null };
        return if (near.tolerance >= 0) near else null;
    }
};

fn parse(text: c.matcher_string_t) ?std.json.Parsed(std.json.Value) {
    return std.json.parseFromSlice(std.json.Value, allocator, text.ptr[0..text.len], .{}) catch null;
}

fn number(value: std.json.Value) ?f64 {
    return switch (value) {
        .integer => |integer| @floatFromInt(integer),
        .float => |float| float,
        .number_string => |digits| std.fmt.parseFloat(f64, digits) catch null,
        else => null,
    };
}

/// The argument, if the call is for this matcher and the argument is valid; the failure otherwise.
fn known(matcher: *c.matcher_string_t, expected: *c.matcher_string_t, err: *c.mcptest_extension_types_failure_t) ?Near {
    defer c.matcher_string_free(matcher);
    defer c.matcher_string_free(expected);
    if (!std.mem.eql(u8, matcher.ptr[0..matcher.len], "near")) {
        err.tag = c.MCPTEST_EXTENSION_TYPES_FAILURE_UNKNOWN_MATCHER;
        c.matcher_string_dup_n(&err.val.unknown_matcher, @ptrCast(matcher.ptr), matcher.len);
        return null;
    }
    return Near.prepare(expected.*) orelse {
        err.tag = c.MCPTEST_EXTENSION_TYPES_FAILURE_INVALID_ARGUMENT;
        c.matcher_string_dup(&err.val.invalid_argument, "expected `[number, tolerance]`");
        return null;
    };
}

export fn exports_mcptest_extension_describing_describe(ret: *c.mcptest_extension_types_manifest_t) void {
    const info = allocator.create(c.mcptest_extension_types_matcher_info_t) catch @panic("out of memory");
    info.* = std.mem.zeroes(c.mcptest_extension_types_matcher_info_t);
    c.matcher_string_dup(&info.name, "near");
    c.matcher_string_dup(&info.summary, "a number is near another");
    ret.* = std.mem.zeroes(c.mcptest_extension_types_manifest_t);
    c.matcher_string_dup(&ret.id, "near");
    c.matcher_string_dup(&ret.version, "0.1.0");
    ret.matchers = .{ .ptr = info, .len = 1 };
}

export fn exports_mcptest_extension_matching_check(
    matcher: *c.matcher_string_t,
    expected: *c.matcher_string_t,
    err: *c.mcptest_extension_types_failure_t,
) bool {
    return known(matcher, expected, err) != null;
}

export fn exports_mcptest_extension_matching_evaluate(
    request: *c.mcptest_extension_types_match_request_t,
    ret: *c.mcptest_extension_types_verdict_t,
    err: *c.mcptest_extension_types_failure_t,
) bool {
    defer for ([_]*c.matcher_string_t{ &request.actual, &request.path, &request.step }) |text| c.matcher_string_free(text);
    const near = known(&request.matcher, &request.expected, err) orelse return false;
    const actual = parse(request.actual) orelse return fail(ret, "expected a number");
    defer actual.deinit();
    const value = number(actual.value) orelse return fail(ret, "expected a number");
    if (@abs(value - near.to) > near.tolerance) return fail(ret, "the number is too far away");
    ret.* = std.mem.zeroes(c.mcptest_extension_types_verdict_t);
    return true;
}

fn fail(ret: *c.mcptest_extension_types_verdict_t, message: [*:0]const u8) bool {
    ret.* = std.mem.zeroes(c.mcptest_extension_types_verdict_t);
    ret.tag = c.MCPTEST_EXTENSION_TYPES_VERDICT_FAIL;
    c.matcher_string_dup(&ret.val.fail.message, message);
    return true;
}
