/** A metadata provider (DAS, getAsset over JSON-RPC) on this machine, which answers what a test says. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type DasHandler = (body: {
  method: string
  params: { id: string }
}) => { status?: number; text: string } | 'hang' | 'break'

export const dasAnswer = (answer: object) => ({ text: JSON.stringify({ jsonrpc: '2.0', id: 'svc', ...answer }) })

/** Knows every token, and shows it in its own shape: neither decimals nor program stand where the chain's data has them. */
export const knowsAll: DasHandler = ({ params: { id } }) =>
  dasAnswer({ result: { interface: 'FungibleToken', id, token_info: { decimals: 0, token_program: id } } })

export async function startDas(handler: DasHandler) {
  const seen: { body: string; authorization: string | undefined }[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      seen.push({ body, authorization: request.headers.authorization })
      const answer = handler(JSON.parse(body))
      if (answer === 'break') response.destroy()
      else if (answer !== 'hang') response.writeHead(answer.status ?? 200).end(answer.text)
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    host,
    seen,
    url: `http://${host}/`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
