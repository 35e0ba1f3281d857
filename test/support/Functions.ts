/** Measures the functions of a source file. */
import { parseAst } from "rolldown/parseAst"

/** A function, its place and the number of its own lines. */
interface Measured {
  readonly name: string
  readonly index: number
  readonly lines: number
}

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [member: string]: unknown
}

const isNode = (value: unknown): value is Node => typeof (value as { type?: unknown } | null)?.type === "string"

const functions = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"])

const below = (node: Node): ReadonlyArray<Node> => Object.values(node).flat().filter(isNode)

const holdsFunction = (node: Node): boolean => functions.has(node.type) || below(node).some(holdsFunction)

const nameIn = (node: unknown): string | undefined =>
  isNode(node) ? ((node["name"] ?? node["value"]) as string | undefined) : undefined

/** The name of a function: its own, its variable's or its member's. */
const nameOf = (node: Node, parent: Node | undefined): string | undefined =>
  nameIn(node["id"]) ?? (parent?.type === "VariableDeclarator" ? nameIn(parent["id"]) : nameIn(parent?.["key"]))

/**
 * Every function of a source with the lines that are its own. A function with a name, a member with one, and a constant that holds
 * functions count by themselves and not in the function around them, so an object of methods counts by its members. A function without
 * a name counts in the one around it.
 */
export const functionsIn = (path: string, text: string): ReadonlyArray<Measured> => {
  const found: Array<Measured> = []
  const linesOf = ({ end, start }: Node) => text.slice(start, end).split("\n").length
  /** Returns the lines below a node that count by themselves. */
  const walk = (node: Node, parent: Node | undefined, inside: boolean): number => {
    const made = functions.has(node.type)
    const held =
      node.type === "VariableDeclarator" && inside && isNode(node["init"]) && !functions.has(node["init"].type)
    const name = made ? nameOf(node, parent) : held && holdsFunction(node) ? nameIn(node["id"]) : undefined
    const apart = below(node).reduce((sum, one) => sum + walk(one, node, inside || made), 0)
    if (name === undefined && (!made || inside)) return apart
    found.push({ name: name ?? "a function", index: node.start, lines: linesOf(node) - apart })
    return linesOf(node)
  }
  const program = parseAst(text, { lang: path.endsWith("x") ? "tsx" : "ts" }, path) as unknown as Node
  walk(program, undefined, false)
  return found
}
