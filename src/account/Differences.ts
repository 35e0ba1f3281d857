/** Returns each field that differs between two states, with its old and new value. The audit log records changes in this form. */
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
