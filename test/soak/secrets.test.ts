/** Nothing of a key or a token reaches logs, answers, errors, the process list or the database. */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { base58 } from '@scure/base'
import { Connection, Keypair, PublicKey } from '@solana/web3.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startDaemon } from '../support/daemon.ts'
import { GENEROUS, keypairFile } from '../support/platform-wallet.ts'
import { temporaryFolder } from '../support/service.ts'
import { startVault } from '../support/vault-server.ts'

/** Every way in which 64 bytes are usually written; parts of them too, as a log may cut. */
function writingsOf(secret: Uint8Array): string[] {
  const seed = Buffer.from(secret.subarray(0, 32))
  const whole = Buffer.from(secret)
  const numbers = [...seed.subarray(0, 8)].join(',')
  return [
    seed.toString('hex'),
    seed.toString('base64').slice(0, 40),
    seed.toString('base64url').slice(0, 40),
    base58.encode(seed),
    base58.encode(whole),
    whole.toString('base64').slice(0, 40),
    numbers,
    numbers.replaceAll(',', ', '),
    seed.toString('latin1'),
  ]
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
}

const requestsOf = [
  ['GET', '/v2/signer', undefined],
  ['PATCH', '/v2/signer/policy', GENEROUS],
  ['POST', '/v2/signer/tests', {}],
  ['POST', '/v2/signer/tests', { submit: true }],
  ['POST', '/v2/signer/tests', { submit: 'x' }],
  ['POST', '/v2/signer/pauses', {}],
  ['POST', '/v2/signer/tests', { submit: true }],
  ['POST', '/v2/signer/resumptions', {}],
  ['GET', '/v2/audit-entries', undefined],
  ['GET', '/v2/audit-verification', undefined],
  ['GET', '/v2/events', undefined],
  ['GET', '/v2/health/workers', undefined],
  ['GET', '/metrics', undefined],
  ['GET', '/ready', undefined],
] as const

/** So that what is asked for is really signed, stored and sent. */
async function fund(dataDir: string, address: string) {
  const { rpc_url } = JSON.parse(readFileSync(join(dataDir, 'daemon.json'), 'utf8'))
  await new Connection(rpc_url, 'confirmed').requestAirdrop(new PublicKey(address), 1_000_000_000)
}

/** Everything that a daemon with these settings says and keeps, while it is asked for all it has. */
async function everythingSaid(env: Record<string, string>, dataDir: string): Promise<string> {
  const daemon = await startDaemon({
    dataDir,
    env: { SVC_LOG_LEVEL: 'trace', SVC_PRIORITY_FEE: 'none', ...env },
    flags: ['--rpc-port', '0'],
  })
  let said = ''
  daemon.process.stdout!.on('data', (text) => {
    said += text
  })
  daemon.process.stderr!.on('data', (text) => {
    said += text
  })
  const { address } = (await daemon.request('GET', '/v2/signer')).json.data ?? {}
  if (address) await fund(dataDir, address)
  for (const [method, path, body] of requestsOf) {
    const answer = await daemon.request(method, path, body === undefined ? {} : { body })
    said += `${JSON.stringify([...answer.headers])}${answer.text}`
  }
  said += execFileSync('ps', ['-ww', '-o', 'pid,comm,args', '-p', String(daemon.process.pid)], { encoding: 'utf8' })
  said += readFileSync(`/proc/${daemon.process.pid}/cmdline`, 'utf8')
  await daemon.stop()
  const kept = filesBelow(dataDir).filter((file) => file !== env.SVC_SIGNER_KEYPAIR)
  for (const file of kept) said += readFileSync(file, 'latin1')
  return said
}

describe('a signing key', () => {
  it('in a file is in no log at trace, answer, error, process list or data folder', async () => {
    const wallet = Keypair.generate()
    const dataDir = temporaryFolder()
    const file = keypairFile(dataDir, wallet)
    const said = await everythingSaid({ SVC_SIGNER: 'keypair', SVC_SIGNER_KEYPAIR: file }, dataDir)
    expect(said).toContain(wallet.publicKey.toBase58())
    expect(said).toContain('signing.refused')
    expect(said).toContain('signing.signed')
    expect(writingsOf(wallet.secretKey).filter((writing) => said.includes(writing))).toEqual([])
  })

  it('that is damaged is refused without a byte of it in the message', async () => {
    const wallet = Keypair.generate()
    const dataDir = temporaryFolder()
    const [first = 0, ...rest] = wallet.secretKey
    const damaged = Keypair.generate()
    Object.defineProperty(damaged, 'secretKey', { value: Uint8Array.from([first ^ 1, ...rest]) })
    const file = keypairFile(dataDir, damaged, 'damaged.json')
    const running = everythingSaid({ SVC_SIGNER: 'keypair', SVC_SIGNER_KEYPAIR: file }, dataDir)
    const said = await running.then(
      () => 'the daemon started',
      ({ message }: Error) => message,
    )
    expect(said).toContain('damaged.json is damaged')
    const some = writingsOf(wallet.secretKey).concat([...wallet.secretKey.subarray(8, 16)].join(','))
    expect(some.filter((writing) => said.includes(writing))).toEqual([])
  })

  it('at a provider has a token that is in none of these, even if an error of the provider repeats it', async () => {
    const vault = await startVault({ token: 'hvs.SECRETTOKEN0123456789' })
    onTestFinished(() => vault.close())
    const env = Object.fromEntries(
      Object.entries(vault.settings).map(([name, value]) => [`SVC_${name.toUpperCase().replace(/[.-]/g, '_')}`, value]),
    )
    for (const how of [undefined, 'forbidden', 'torn answer', 'wrong signature'] as const) {
      vault.misbehave(how)
      const said = await everythingSaid(env, temporaryFolder())
      expect(said).toContain(vault.key.address)
      expect(said).not.toContain('SECRETTOKEN')
      expect(writingsOf(Uint8Array.from(vault.key.secretKey)).filter((writing) => said.includes(writing))).toEqual([])
    }
  })
})
