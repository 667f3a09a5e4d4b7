/** The memo of a note: `svc:note:<id>:<text>`. A text may hold colons. */
export interface NoteMemo {
  id: string
  text: string
}

export const noteMemo = ({ id, text }: NoteMemo): string => `svc:note:${id}:${text}`

/** Null for every other memo. */
export function readNoteMemo(data: Uint8Array): NoteMemo | null {
  const [, id, text] = /^svc:note:(note_\w+):(.*)$/s.exec(Buffer.from(data).toString('utf8')) ?? []
  return id === undefined || text === undefined ? null : { id, text }
}
