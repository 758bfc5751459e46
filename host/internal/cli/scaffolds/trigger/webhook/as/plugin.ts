// Begins a run for each request of a sender that knows the token.
import { Call, Items, Received, Value, run } from "./easel/index";

export function easel_invoke(): i32 { return run(hook); }

function hook(call: Call): Value {
  const received = new Received(call), token = call.param("token").str();
  if (token == "" || received.header("x-token") != token)
    return call.fail("unauthorized", "X-Token is not the token of this schedule");
  return new Items().add("", received.text()).reply(202, "accepted").outputs();
}
