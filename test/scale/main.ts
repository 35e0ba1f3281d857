/** Prints where the first limit of many nodes lies; see `Simulation.ts`. */
import { table } from "./Simulation.ts"

console.log(table())
