import { Context, Layer } from "effect"
import { type Cluster, gatewaysOnly, startCluster } from "./Cluster.ts"

/** Two gateways on one database, which the tests of a file share. */
export class TwoGateways extends Context.Service<TwoGateways, Cluster>()("tollgate/test/TwoGateways") {
  static readonly layer = Layer.effect(TwoGateways, startCluster(gatewaysOnly(2)))
}
