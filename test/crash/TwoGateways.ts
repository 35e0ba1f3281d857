import { Context, Layer } from "effect"
import { plain, startWorld, type World } from "./World.ts"

/** Two gateways on one database, for the tests of a file. */
export class TwoGateways extends Context.Service<TwoGateways, World>()("tollgate/test/TwoGateways") {
  static readonly layer = Layer.effect(TwoGateways, startWorld(plain(2)))
}
