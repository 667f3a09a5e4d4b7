/** Two daemons on one PostgreSQL database: approvals arrive at both, one is killed or frozen while it executes, and the act is done once. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Connection, PublicKey } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PostgresServer, startPostgres } from '../store/postgres-server.ts'
import { approversOf, type Person, textOf } from '../support/approvers.ts'
import { type ChainProcess, startChain } from '../support/chain-process.ts'
import { type Daemon, startDaemon } from '../support/daemon.ts'
import { quickProgramsDir } from '../support/programs.ts'
import type { Answer } from '../support/request.ts'
import { soakRuns } from '../support/runs.ts'
import { removeFolder } from '../support/service.ts'
import { makeSharedFolder } from '../support/shared-folder.ts'
import { startVault, type VaultServer } from '../support/vault-server.ts'
import { allPages } from './kills/harness.ts'
import { startTrappingProxy, type Trap, type TrappingProxy } from './trapping-proxy.ts'

const SOL = 1_000_000_000
const ENCRYPTION_KEY = Buffer.alloc(32, 5).toString('base64')
const RULES = { lamports_per_transaction: '1000000', lamports_per_day: '1000000000' }
/** A worker takes over after half a minute, and signs anew only once an earlier message has ended. */
const TAKEN_OVER = { timeout: 240_000, interval: 500 }

const started = await startPostgres()
const server = started as PostgresServer

// biome-ignore lint/suspicious/noExplicitAny: the data of answers
type Data = any

interface Member {
  daemon: Daemon
  node: TrappingProxy
  vault: TrappingProxy
  start(): Promise<Daemon>
}

describe.skipIf('missing' in started)('an act that two people approve at two daemons', () => {
  const home = makeSharedFolder('svc-')
  const members: Member[] = []
  let vault: VaultServer
  let chainProcess: ChainProcess
  let chain: Connection
  let genesis: string
  let people: [Person, Person, Person]
  let count = 0

  beforeAll(async () => {
    const url = await server.createMigratedDatabase()
    vault = await startVault()
    mkdirSync(join(home, 'chain'))
    chainProcess = await startChain(join(home, 'chain'), { SVC_PROGRAMS_DIR: quickProgramsDir() })
    chain = new Connection(chainProcess.url, 'confirmed')
    genesis = await chain.getGenesisHash()
    await chain.requestAirdrop(new PublicKey(vault.key.address), SOL)
    for (const name of ['one', 'other']) {
      const dataDir = join(home, name)
      mkdirSync(dataDir)
      const [node, signing] = [await startTrappingProxy(chainProcess.url), await startTrappingProxy(vault.url)]
      const env = {
        SVC_DATABASE_URL: url,
        SVC_ENCRYPTION_KEY: ENCRYPTION_KEY,
        SVC_PROGRAMS_DIR: quickProgramsDir(),
        SVC_SIGNER: 'vault',
        SVC_SIGNER_VAULT_URL: signing.url,
        SVC_SIGNER_VAULT_KEY: vault.keyName,
        SVC_SIGNER_VAULT_TOKEN: vault.token,
        SVC_SIGNER_PUBLIC_KEY: vault.key.address,
        SVC_PRIORITY_FEE: 'none',
      }
      const start = () => startDaemon({ dataDir, flags: ['-u', node.url], env })
      members.push({ daemon: await start(), node, vault: signing, start })
    }
    people = (await approversOf(members[0]!.daemon, 2, RULES, { people: 3 })) as typeof people
  }, 300_000)
  afterAll(async () => {
    for (const { daemon, node, vault } of members) {
      daemon.process.kill('SIGCONT')
      await daemon.stop('SIGKILL')
      await Promise.all([node.close(), vault.close()])
    }
    await chainProcess?.stop()
    await vault?.close()
    removeFolder(home)
  })

  const member = (at: number): Member => members[at]!
  const ask = (at: number, path: string, body: object = {}): Promise<Answer> =>
    member(at).daemon.request('POST', path, { body })

  async function proposed(at = 0): Promise<Data> {
    const { status, json, text } = await ask(at, '/v2/signer/tests', { submit: true, memo: `act ${count++}.` })
    expect(status, text).toBe(202)
    return { ...json.data.proposal, memo: `act ${count - 1}.` }
  }
  const approve = (at: number, proposal: Data, who: Person): Promise<Answer> =>
    ask(at, `/v2/proposals/${proposal.id}/approvals`, {
      approver: who.address,
      signature: who.sign(textOf(proposal, 'approved', genesis)),
    })
  const read = async (at: number, { id }: Data): Promise<Data> =>
    (await member(at).daemon.request('GET', `/v2/proposals/${id}`)).json.data
  const executed = (at: number, proposal: Data) =>
    expect.poll(async () => (await read(at, proposal)).status, TAKEN_OVER).toBe('executed')

  /** How often the chain has the memo of an act. */
  async function landed({ memo }: Data): Promise<number> {
    const found = await chain.getSignaturesForAddress(new PublicKey(vault.key.address), { limit: 1000 })
    return found.filter((each) => each.err === null && each.memo?.includes(memo)).length
  }
  const isLanded = (proposal: Data) => expect.poll(() => landed(proposal), { timeout: 60_000 }).toBe(1)

  /** What the vault was asked to sign for an act, each message once. */
  function signed({ memo }: Data): Set<string> {
    const inputs = vault.requests.flatMap(({ body }) => (body === '' ? [] : [JSON.parse(body).input as string]))
    return new Set(inputs.filter((input) => Buffer.from(input, 'base64').includes(memo)))
  }

  const SIGN = () => `POST /v1/transit/sign/${vault.keyName}`
  const MOMENTS: [string, (one: Member) => TrappingProxy, () => string, Trap['when']][] = [
    ['before it reserves the signing', ({ node }) => node, () => 'simulateTransaction', 'answered'],
    ['before the provider signs', ({ vault }) => vault, SIGN, 'asked'],
    ['with the signature of the provider', ({ vault }) => vault, SIGN, 'delivered'],
    ['before the transaction is sent', ({ node }) => node, () => 'sendTransaction', 'asked'],
  ]

  /** The last approval arrives at the first daemon, which is struck by the signal while it executes. */
  async function struck(
    proposal: Data,
    [, proxyOf, method, when]: (typeof MOMENTS)[number],
    signal: NodeJS.Signals,
  ): Promise<{ answer: Promise<Answer | null> }> {
    const one = member(0)
    expect((await approve(1, proposal, people[0])).status).toBe(200)
    const hit = new Promise<void>((resolve) =>
      proxyOf(one).arm({ method: method(), when, nth: 1 }, () => {
        one.daemon.process.kill(signal)
        resolve()
      }),
    )
    const answer = approve(0, proposal, people[1]).catch(() => null)
    await hit
    return { answer }
  }

  it('is executed once if their approvals arrive at the same moment', async () => {
    for (let n = 0; n < 6; n++) {
      const proposal = await proposed(n % 2)
      const answers = await Promise.all([
        approve(0, proposal, people[0]),
        approve(1, proposal, people[1]),
        ...(n % 3 === 2 ? [approve(n % 2, proposal, people[2])] : []),
      ])
      expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(2)
      for (const at of [0, 1]) await executed(at, proposal)
      await isLanded(proposal)
      expect(signed(proposal).size).toBe(1)
    }
  })

  it.each(MOMENTS.slice(-soakRuns(2, 4)))(
    'is executed once by the other daemon if the first is killed %s',
    async (...moment) => {
      const proposal = await proposed()
      const { answer } = await struck(proposal, moment, 'SIGKILL')
      expect(await answer).toBeNull()
      await executed(1, proposal)
      await isLanded(proposal)
      members[0] = { ...member(0), daemon: await member(0).start() }
      expect(await read(0, proposal)).toMatchObject({ status: 'executed', fault: null })
    },
  )

  it.each(MOMENTS.slice(3 - soakRuns(1, 3), 3))(
    'is executed once if the first daemon is frozen %s, and continues after the other has executed it',
    async (...moment) => {
      const proposal = await proposed()
      const { answer } = await struck(proposal, moment, 'SIGSTOP')
      await executed(1, proposal)
      const before = await read(1, proposal)
      member(0).daemon.process.kill('SIGCONT')
      const { status, json, text } = (await answer) as Answer
      expect([status, json.data?.proposal.status], text).toEqual([200, 'executed'])
      await isLanded(proposal)
      for (const at of [0, 1]) {
        expect(await read(at, proposal)).toMatchObject({ status: 'executed', fault: null, signature: before.signature })
      }
    },
  )

  it('is executed by neither if an approver is removed while the first daemon is frozen with the signature', async () => {
    const proposal = await proposed()
    const { answer } = await struck(proposal, MOMENTS[2]!, 'SIGSTOP')
    // The frozen daemon may hold the lock of the audit log, until the server ends its session.
    const remove = () => member(1).daemon.request('DELETE', `/v2/approvers/${people[0].address}`)
    await expect.poll(async () => (await remove()).status, TAKEN_OVER).toBe(200)
    await expect.poll(async () => (await read(1, proposal)).fault, TAKEN_OVER).toMatch(/1 of 2 approvals/)
    member(0).daemon.process.kill('SIGCONT')
    await answer
    expect(await read(0, proposal)).toMatchObject({ status: 'approved', signature: null })
    expect(await landed(proposal)).toBe(0)
    const added = await ask(1, '/v2/approvers', { address: people[0].address, name: 'person 0' })
    expect(added.status).toBe(201)
  })

  it('leaves a whole audit log, with each execution once', async () => {
    const { request } = member(1).daemon
    expect((await request('GET', '/v2/audit-verification')).json.data).toMatchObject({ intact: true })
    const found = await allPages(request, '/v2/proposals?')
    const entries = await allPages(request, '/v2/audit-entries?')
    const executions = entries.filter(({ action }) => action === 'proposal.executed')
    const done = found.filter(({ status }) => status === 'executed')
    expect(executions.length).toBe(done.length)
    expect(new Set(done.map(({ signature }) => signature)).size).toBe(done.length)
    process.stdout.write(
      `  ${found.length} proposals, ${done.length} executed, ${vault.requests.length} calls to the vault\n`,
    )
  })
})
