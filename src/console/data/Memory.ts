/** The page's memory for one owner: the secret of a key, conversations and galleries. The next owner must not see it. */

const actions = new Set<() => void>()

/** Registers an action that forgets something of the owner. */
export const onForget = (forget: () => void): void => {
  actions.add(forget)
}

/** Deletes everything in memory about the owner, when the owner signs out or another one signs in. */
export const forgetMemory = (): void => {
  for (const forget of actions) forget()
}
