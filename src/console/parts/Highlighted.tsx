import { useEffect, useState } from "react"
import { highlight, type Piece } from "../data/Highlight.ts"

/** Code, in colours once the highlighter has loaded. */
export const Highlighted = ({ code, language }: { readonly code: string; readonly language: string | undefined }) => {
  const [pieces, setPieces] = useState<{ readonly of: string; readonly pieces: ReadonlyArray<Piece> }>()
  useEffect(() => {
    if (language === undefined || language === "") return
    let isUnmounted = false
    highlight(code, language).then(
      (pieces) => !isUnmounted && pieces !== undefined && setPieces({ of: code, pieces }),
      // The code stays readable without colours.
      () => undefined
    )
    return () => {
      isUnmounted = true
    }
  }, [code, language])
  if (pieces === undefined || !code.startsWith(pieces.of)) return <>{code}</>
  return (
    <>
      {pieces.pieces.map(({ kind, text }, at) =>
        kind === undefined ? (
          text
        ) : (
          <span key={at} className={kind}>
            {text}
          </span>
        )
      )}
      {code.slice(pieces.of.length)}
    </>
  )
}
