/** A node, relay and providers whose errors repeat their URL, with the credential in it. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { Keypair, SystemProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import { execa } from 'execa'
import { describe, expect, it, onTestFinished } from 'vitest'
import { A, MINIMAL, routes } from '../api/bodies.ts'
import { type Daemon, startDaemon } from '../support/daemon.ts'
import { keypairFile } from '../support/platform-wallet.ts'
import { temporaryFolder } from '../support/service.ts'

const PROGRAM = resolve(import.meta.dirname, '../../dist/svc.js')
/** Each in a place of its own, so that what leaks says whence. */
const CREDENTIALS = /Us3rPart|P4ssPart|P4thPart|Qu3ryPart|R3layPart|M3taPart|Pr1cePart/
const BASIC = Buffer.from('Us3rPart-1:P4ssPart-2').toString('base64')

type Call = { method?: string; id?: unknown }
/** What is said of a request: its URL in every writing. */
type Echo = (said: string, call: Call, response: ServerResponse) => void

const json = (response: ServerResponse, body: unknown, status = 200) => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
const error =
  (code: number) =>
  (said: string, { id }: Call, response: ServerResponse) =>
    json(response, { jsonrpc: '2.0', id, error: { code, message: said, data: { logs: [said], at: said } } })

const SHAPES: Record<string, Echo> = {
  'an error of JSON-RPC': error(-32000),
  'a refusal of the transaction': error(-32602),
  'an error of HTTP': (said, _, response) => void response.writeHead(403, said.slice(0, 60)).end(said),
  'a page': (said, _, response) => void response.writeHead(500).end(`<html><a href="${said}">${said}</a></html>`),
  'a long error': (said, call, response) => error(-32001)(`${'x'.repeat(260)} ${said}`, call, response),
  'a redirect': (said, _, response) =>
    void response.writeHead(307, { location: `http://127.0.0.1:1/${said.split(' ')[0]}` }).end(said),
  'something that is not JSON': (said, _, response) => void response.end(said),
  'a result that is none': (said, { id }, response) => json(response, { jsonrpc: '2.0', id, result: said }),
  'a log of the program': (said, { id }, response) => {
    const value = {
      err: { InstructionError: [0, said] },
      logs: [said],
      accounts: null,
      unitsConsumed: 1,
      returnData: null,
    }
    json(response, { jsonrpc: '2.0', id, result: { context: { slot: 5 }, value } })
  },
  'a status': (said, { id, method }, response) => {
    const values: Record<string, unknown> = {
      getGenesisHash: A,
      getSlot: 5,
      getSignatureStatuses: {
        context: { slot: 5 },
        value: [
          { slot: 5, confirmations: null, err: { InstructionError: [0, said] }, confirmationStatus: 'finalized' },
        ],
      },
      simulateTransaction: { context: { slot: 5 }, value: { err: null, logs: [said] } },
      sendTransaction: said,
    }
    json(response, { jsonrpc: '2.0', id, result: values[method ?? ''] ?? said })
  },
}

async function startEcho() {
  let shape: Echo = error(-32000)
  let known = ''
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const { headers, url = '' } = request
    const whole = `http://${headers.host}${url}`
    const writings = [whole, url, known, decodeURIComponent(url), encodeURIComponent(whole), headers.authorization]
    const call = body.startsWith('{') ? (JSON.parse(body) as Call) : {}
    shape(writings.join(' '), call, response)
  }
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const close = () =>
    new Promise<void>((done) => {
      server.close(() => done())
      server.closeAllConnections()
    })
  onTestFinished(() => close())
  const { port } = server.address() as AddressInfo
  const rpc = `http://Us3rPart-1:P4ssPart-2@127.0.0.1:${port}/v1/P4thPart-3c/?api-key=Qu3ryPart-4d`
  known = rpc
  return {
    rpc,
    host: `http://127.0.0.1:${port}`,
    say(named: Echo) {
      shape = named
    },
    close,
  }
}

function signedTransfer(payer = Keypair.generate()): string {
  const instructions = [SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: payer.publicKey, lamports: 1 })]
  const message = new TransactionMessage({ payerKey: payer.publicKey, recentBlockhash: A, instructions })
  const transaction = new VersionedTransaction(message.compileToV0Message())
  transaction.sign([payer])
  return Buffer.from(transaction.serialize()).toString('base64')
}

/** Asks for everything there is, as unsigned and, where it is taken, as signed. */
async function askAll({ request }: Daemon, ids: Record<string, string>): Promise<string> {
  const asks = routes
    .filter(([name]) => !['apiKeys.revoke', 'signer.pause', 'webhookSubscriptions.delete'].includes(name))
    .flatMap(([name, { method, path, query }]) => {
      const noun = name.split('.')[0]!
      const filled = path
        .replace(/\{kind\}/, 'metadata')
        .replace(/\{(\w+)\}/g, (_, param: string) => ids[`${noun}.${param}`] ?? ids[param] ?? A)
      const asked = query?.shape && 'mint' in query.shape ? `${filled}?mint=${A}` : filled
      return bodiesOf(name, method).map(async (body) => {
        // While answers are held against the document, the daemon closes connections that are idle for seconds.
        const own = { headers: { connection: 'close' }, ...(body === undefined ? {} : { body }) }
        const { headers, text } = await request(method.toUpperCase(), asked, own)
        return `${name}: ${JSON.stringify([...headers])}${text}`
      })
    })
  const answers = await Promise.all(asks)
  for (const path of ['/ready', '/metrics']) answers.push((await request('GET', path)).text)
  return answers.join('\n')
}

function bodiesOf(name: string, method: string): unknown[] {
  if (method === 'get') return [undefined]
  const transaction = signedTransfer()
  return [
    { ...MINIMAL[name], ...(MINIMAL[name]?.transaction ? { transaction } : {}) },
    { ...MINIMAL[name], mode: 'signed' },
    ...(name === 'transactions.submit' ? [{ transaction, skip_preflight: true }] : []),
    ...(name === 'signer.test' ? [{ submit: true, memo: 'x' }] : []),
  ]
}

const leaks = (text: string) => text.split('\n').filter((line) => CREDENTIALS.test(line) || line.includes(BASIC))

describe('the credential in the URL of a node that repeats it', () => {
  it('is in no answer, no log line at trace, no stored row and no output of the command line', async () => {
    const node = await startEcho()
    const dataDir = temporaryFolder()
    const env = {
      SVC_URL: node.rpc,
      SVC_RELAY_URL: `${node.host}/R3layPart-5e`,
      SVC_METADATA_URL: `${node.host}/?api-key=M3taPart-6f`,
      SVC_PRICE_URL: `${node.host}/price?token=Pr1cePart-7a`,
      SVC_GOLD_MINT: A,
      SVC_PUBLIC_URL: 'https://svc.example.com',
      SVC_SIGNER: 'keypair',
      SVC_SIGNER_KEYPAIR: keypairFile(dataDir),
      SVC_LOG_LEVEL: 'trace',
    }
    const daemon = await startDaemon({ dataDir, env })
    let log = ''
    daemon.process.stderr!.on('data', (text) => {
      log += text
    })
    const tree = await daemon.request('POST', '/v2/merkle-trees', { body: MINIMAL['merkleTrees.create'] })
    const id = tree.json.data.id
    const ids = { 'airdrops.id': id, 'merkleTrees.id': id, signature: '1'.repeat(64) }
    let said = ''
    for (const [name, shape] of Object.entries(SHAPES)) {
      node.say(shape)
      said += `${name}\n${await askAll(daemon, ids)}\n`
    }
    const run = async (args: string[]) => {
      const options = { env: { PATH: process.env.PATH ?? '', HOME: dataDir, ...env }, extendEnv: false, reject: false }
      const folder = ['--data-dir', temporaryFolder()]
      const { stdout, stderr } = await execa(process.execPath, [PROGRAM, ...args, ...folder], options)
      return `${stdout}\n${stderr}\n`
    }
    for (const shape of ['an error of JSON-RPC', 'a long error']) {
      node.say(SHAPES[shape]!)
      for (const args of [
        ['accounts', 'get', A],
        ['accounts', 'get', A, '--debug', '-o', 'json'],
        ['doctor'],
        ['localnet', 'pull', '--from', node.rpc],
      ]) {
        said += await run(args)
      }
    }
    await node.close()
    said += `refused\n${await askAll(daemon, ids)}\n${await run(['doctor'])}`
    await daemon.stop()
    const rows = readdirSync(dataDir, { recursive: true, encoding: 'utf8' })
      .map((name) => join(dataDir, name))
      .filter((file) => statSync(file).isFile())
      .map((file) => readFileSync(file, 'latin1'))
    expect(leaks(said)).toEqual([])
    expect(leaks(log)).toEqual([])
    expect(leaks(rows.join('\n')).length).toBe(0)
    // It was asked, and its errors are reported.
    expect(said).toMatch(/failed at the RPC node: .*127\.0\.0\.1:\d+\/\*\*\*/)
    expect(log).toContain('"level":')
  }, 300_000)
})
