/** An answer with its body read: one that breaks off or hangs in mid-body is no answer, and nobody waits for the rest of it. */

const BODILESS = new Set([204, 205, 304])

/** The same answer; what was decoded on the way in has another length and encoding now. */
export async function wholeAnswer(response: Response): Promise<Response> {
  const body = await response.arrayBuffer()
  const { status, statusText } = response
  const headers = new Headers(response.headers)
  for (const name of ['content-length', 'content-encoding', 'transfer-encoding']) headers.delete(name)
  return new Response(BODILESS.has(status) ? null : body, { status, statusText, headers })
}
