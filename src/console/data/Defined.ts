/** Returns a record without the fields that are undefined. */
export const defined = <A extends object>(record: A): { readonly [Name in keyof A]?: Exclude<A[Name], undefined> } =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as never
