/** Each member of a thing that is another than before, as it was and as it is: what the audit log says of a change. */
export const differences = <A extends object>(
  before: A,
  after: A
): Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>> =>
  Object.fromEntries(
    (Object.keys(after) as Array<keyof A & string>).flatMap((name) => {
      const [from, to] = [before[name], after[name]]
      return JSON.stringify(from) === JSON.stringify(to) ? [] : [[name, { from, to }]]
    })
  )
