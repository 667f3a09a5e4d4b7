/** Reads the whole body of an answer. One that is cut off or stalls within the body is a failure. */

const BODILESS = new Set([204, 205, 304])

/** Returns the same answer. Its decoded body has another length and encoding. */
export async function wholeAnswer(response: Response): Promise<Response> {
  const body = await response.arrayBuffer()
  const { status, statusText } = response
  const headers = new Headers(response.headers)
  for (const name of ['content-length', 'content-encoding', 'transfer-encoding']) headers.delete(name)
  return new Response(BODILESS.has(status) ? null : body, { status, statusText, headers })
}
