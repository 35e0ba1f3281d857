/** The frame of every page of a signed-in owner. */
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { api } from "../data/Client.ts"
import { forgetOwner, sessionQuery } from "../data/Queries.ts"
import { Frame } from "./Frame.tsx"
import { OwnerRail } from "./OwnerRail.tsx"
import { Palette } from "./Palette.tsx"
import { type PagesByLetter, useShortcuts } from "./Shortcuts.ts"
import { useSignOut } from "./SignOut.ts"

const letters: PagesByLetter = {
  o: "/overview",
  e: "/explorer",
  r: "/requests",
  p: "/playground",
  m: "/models",
  k: "/keys",
  b: "/billing"
}

/** The rail and the palette of owners around their pages. */
export const Shell = () => {
  const session = useQuery({ ...sessionQuery, enabled: false })
  const [searching, setSearching] = useState(false)
  const [search] = useState(() => () => setSearching(true))
  useShortcuts(letters, search)
  const signOut = useSignOut({
    end: () => api.call("console.session.delete"),
    forget: forgetOwner,
    to: "/sign-in"
  })
  return (
    <Frame
      rail={(open) => (
        <OwnerRail
          email={session.data?.account.email ?? ""}
          open={open}
          onSearch={search}
          onSignOut={() => void signOut()}
        />
      )}
    >
      {searching ? <Palette onClose={() => setSearching(false)} /> : null}
    </Frame>
  )
}
