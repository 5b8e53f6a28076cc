#!/usr/bin/env bash
# `$near: [3.14, 0.01]` with jq: one filter, one answer for each line.
exec jq --unbuffered --compact-output '
  def number: if type == "string" then (tonumber? // null) elif type == "number" then . else null end;
  .params as $params |
  if .method != "near" then {id, error: {code: -32601, message: "no such method"}}
  elif ([$params | objects | .expected | arrays | .[:2][] | numbers] | length) != 2
  then {id, error: {code: -32602, message: "the argument is a number and a tolerance"}}
  else
    ($params.actual | number) as $actual | ($params.expected[0]) as $to |
    {id, result: (
      if $actual == null then {pass: false, message: "not a number"}
      elif ($actual - $to | fabs) <= $params.expected[1] then true
      else {pass: false, message: "too far away: \($actual - $to | fabs)"} end)}
  end'
