/** Daemons that are killed around the proposals of a multisig: each act is on the chain once, and each proposal has its end. */
import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import * as spl from '@solana/spl-token'
import { Keypair, PublicKey, SystemProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import * as squads from '@sqds/multisig'
import { expect, vi } from 'vitest'
import { randomOf } from '../../support/random.ts'
import type { Answer } from '../../support/request.ts'
import { soakRuns } from '../../support/runs.ts'
import { addressOf, lacksSquads } from '../../support/squads.ts'
import type { Trap } from '../trapping-proxy.ts'
import { allPages, killTest, momentsOf, requestsOf, seedOr } from './harness.ts'
import { openSigningPlatform, type PlatformPoint, signedBy, trapsOf } from './platform.ts'

const SOL = 1_000_000_000
const KILLS = soakRuns(12, 20)
/** Less than a blockhash is valid on this chain, so that what was cut off can still land. */
const PATIENCE_MS = 15_000
const { instructions } = squads
const key = (address: string) => new PublicKey(address)

/**
 * Approved and executed by Squads' own client; by transactions of the daemon, which the member sends or which the daemon
 * sends; approved by one of two members alone; rejected; rejected and proposed anew. All pay wrapped SOL.
 */
const KINDS = ['foreign', 'built', 'submitted', 'waiting', 'rejected', 'renewed'] as const
type Kind = (typeof KINDS)[number]
const kindOf = (n: number): Kind => KINDS[n % KINDS.length]!
const isPaid = (n: number): boolean => ['foreign', 'built', 'submitted', 'renewed'].includes(kindOf(n))
const endOf = (n: number): string =>
  kindOf(n) === 'waiting' ? 'active' : kindOf(n) === 'rejected' ? 'rejected' : 'executed'

const lamportsOf = (n: number): number => 1_000_000 + n
const recipientOf = (n: number): string => addressOf(Keypair.fromSeed(createHash('sha256').update(`act ${n}`).digest()))

/** Wrapped SOL of the vault before its first payment, in raw units. */
const WRAPPED = 5 * SOL

interface Multisig {
  address: string
  vault: string
}

type Step = 'approved' | 'rejected'

/** A multisig of which two of three members approve. The platform wallet may propose and nothing else. */
async function treasury() {
  const platform = await openSigningPlatform()
  const { chain, vault: provider } = platform
  const wallet = provider.key.address
  const [a, b, c] = [Keypair.generate(), Keypair.generate(), Keypair.generate()] as const
  for (const address of [wallet, ...[a, b, c].map(addressOf)]) await chain.requestAirdrop(key(address), 100 * SOL)
  await platform.start()
  const ask = async (method: string, path: string, body?: object, idempotencyKey?: string) => {
    const headers: Record<string, string> = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }
    const answer = await platform.daemon.request(method, path, body === undefined ? {} : { body, headers })
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`)
    return answer
  }
  /** Waits until a transaction is confirmed; its error on the chain is no failure, because another may have been faster. */
  const landed = async (signature: string) => {
    for (let tries = 0; tries < 300; tries++) {
      const { value } = await chain.getSignatureStatus(signature)
      if (value?.confirmationStatus === 'confirmed' || value?.confirmationStatus === 'finalized') return value.err
      await delay(100)
    }
    throw new Error(`${signature} did not land`)
  }
  const send = async (raw: Uint8Array) => landed(await chain.sendRawTransaction(raw, { skipPreflight: true }))

  const policy = { lamports_per_transaction: String(SOL), lamports_per_day: String(90 * SOL) }
  await ask('PATCH', '/v2/signer/policy', policy)
  const members = [
    { address: wallet, vote: false, execute: false },
    ...[a, b, c].map((each) => ({ address: addressOf(each) })),
  ]
  const made = (await ask('POST', '/v2/multisigs', { payer: addressOf(a), members, threshold: 2 })).json.data
  expect(await send(Buffer.from(signedBy(made.transaction, a), 'base64'))).toBeNull()
  const multisig: Multisig = { address: made.multisig, vault: made.vault }
  await chain.requestAirdrop(key(multisig.vault), 10 * SOL)
  const multisigPda = key(multisig.address)
  const wrappedOf = (address: string) => spl.getAssociatedTokenAddressSync(spl.NATIVE_MINT, key(address), true)

  /** Sends an instruction of Squads' own client. */
  const foreign = async (instruction: Parameters<typeof instructionList>[0], by: Keypair) => {
    const { blockhash } = await chain.getLatestBlockhash()
    const message = new TransactionMessage({
      payerKey: by.publicKey,
      recentBlockhash: blockhash,
      instructions: instructionList(instruction),
    })
    const transaction = new VersionedTransaction(message.compileToV0Message())
    transaction.sign([by])
    return send(transaction.serialize())
  }
  const own = wrappedOf(multisig.vault)
  for (const instruction of [
    spl.createAssociatedTokenAccountInstruction(a.publicKey, own, key(multisig.vault), spl.NATIVE_MINT),
    SystemProgram.transfer({ fromPubkey: a.publicKey, toPubkey: own, lamports: WRAPPED }),
    spl.createSyncNativeInstruction(own),
  ]) {
    expect(await foreign(instruction, a)).toBeNull()
  }
  const place = (index: string) => ({ multisigPda, transactionIndex: BigInt(index) })
  const readProposal = async (index: string) => {
    const [address] = squads.getProposalPda(place(index))
    if ((await chain.getAccountInfo(address)) === null) return null
    return squads.accounts.Proposal.fromAccountAddress(chain, address)
  }
  const statusOf = async (index: string) => (await readProposal(index))?.status.__kind ?? null
  const hasVoted = async (index: string, step: Step, { publicKey }: Keypair) =>
    (await readProposal(index))![step].some((each) => each.equals(publicKey))

  return {
    all: () => allPages(platform.daemon.request, '/v2/proposals?'),
    ...{ platform, chain, wallet, a, b, multisig, ask, send, foreign, place, statusOf },
    lamports: (address: string) => chain.getBalance(key(address)),
    /** Raw units of wrapped SOL. */
    async wrapped(address: string) {
      const account = await chain.getAccountInfo(wrappedOf(address))
      return account === null ? 0 : Number(spl.unpackAccount(wrappedOf(address), account).amount)
    },
    async lastIndex() {
      const account = await squads.accounts.Multisig.fromAccountAddress(chain, multisigPda)
      return Number(account.transactionIndex)
    },
    /** Waits until what the platform wallet has proposed is on the chain. */
    async untilActive(index: string) {
      for (let tries = 0; (await statusOf(index)) === null; tries++) {
        if (tries === 300) throw new Error(`number ${index} is not on the chain`)
        await delay(100)
      }
    },
    /** One vote, unless the member has voted; `daemon` builds it. */
    async vote(step: Step, { id, index }: Proposed, by: Keypair, daemon: boolean) {
      if (await hasVoted(index, step, by)) return
      if (daemon) {
        const verb = step === 'approved' ? 'approvals' : 'rejections'
        const { data } = (await ask('POST', `/v2/proposals/${id}/${verb}`, { member: addressOf(by) })).json
        await send(Buffer.from(signedBy(data.transaction, by), 'base64'))
        return
      }
      const votes = { approved: instructions.proposalApprove, rejected: instructions.proposalReject }
      await foreign(votes[step]({ ...place(index), member: by.publicKey }), by)
    },
    async executeForeign(index: string, by: Keypair) {
      const terms = { connection: chain, ...place(index), member: by.publicKey }
      return foreign((await instructions.vaultTransactionExecute(terms)).instruction, by)
    },
    /** The execution as the daemon builds it, signed by the member. */
    async builtExecution(id: string, by: Keypair): Promise<string> {
      const { data } = (await ask('POST', `/v2/proposals/${id}/executions`, { member: addressOf(by) })).json
      return signedBy(data.transaction, by)
    },
    async propose(n: number): Promise<Proposed> {
      const approver = { kind: 'squads', multisig: multisig.address }
      const as = { payer: multisig.vault, mode: 'signed', approver }
      const recipients = [{ wallet: recipientOf(n), amount: String(lamportsOf(n)) }]
      const body = { ...as, mint: spl.NATIVE_MINT.toBase58(), recipients }
      return proposedIn(await ask('POST', '/v2/token-transfers', body, `act-${n}`))
    },
    /** Many payments in one transaction, which is put on the chain through a buffer. */
    async proposeMany(recipients: string[], lamports: number, name: string) {
      const message = new TransactionMessage({
        payerKey: key(multisig.vault),
        recentBlockhash: PublicKey.default.toBase58(),
        instructions: recipients.map((to) =>
          SystemProgram.transfer({ fromPubkey: key(multisig.vault), toPubkey: key(to), lamports }),
        ),
      })
      const unsigned = new VersionedTransaction(message.compileToV0Message()).serialize()
      const approver = { kind: 'squads', multisig: multisig.address }
      const body = { approver, transaction: Buffer.from(unsigned).toString('base64'), mode: 'signed' }
      return ask('POST', '/v2/proposals', body, name)
    },
    async renew(id: string, name: string): Promise<Proposed> {
      return proposedIn(await ask('POST', `/v2/proposals/${id}/renewals`, { mode: 'signed' }, name))
    },
  }
}

interface Proposed {
  id: string
  index: string
}

const instructionList = (instruction: ReturnType<typeof instructions.proposalApprove>) => [instruction]
const proposedIn = ({ json: { data } }: Answer): Proposed => ({
  id: data.proposal.id,
  index: data.proposal.transaction_index,
})
type Treasury = Awaited<ReturnType<typeof treasury>>

/** Events have no gaps; each executed proposal has a transaction of its own, with the events of its steps once. */
async function requireEvents({ platform, chain, all }: Pick<Treasury, 'platform' | 'chain' | 'all'>): Promise<void> {
  const executed = (await all()).filter(({ status }) => status === 'executed').map(({ signature }) => signature)
  expect(new Set(executed).size).toBe(executed.length)
  const read = async () => {
    const events = await allPages(platform.daemon.request, '/v2/events?order=asc&')
    return events.map(({ sequence, type, data }) => ({ sequence, name: `${type} ${data.object.resource_id}` }))
  }
  const ends = (names: string[]) => executed.filter((each) => !names.includes(`transaction.finalized ${each}`))
  await expect.poll(async () => ends((await read()).map(({ name }) => name)), { timeout: 60_000 }).toEqual([])
  const events = await read()
  expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, n) => n + 1))
  const names = events.map(({ name }) => name)
  expect(names.filter((name, n) => names.indexOf(name) !== n)).toEqual([])
  for (const signature of executed) {
    expect(names).toContain(`transaction.confirmed ${signature}`)
    const { value } = await chain.getSignatureStatus(signature, { searchTransactionHistory: true })
    expect([signature, value?.err]).toEqual([signature, null])
  }
}

/** The n-th act pays a recipient of its own. Each step of it can be repeated, as its client would. */
async function actsUnderWay() {
  const at = await treasury()
  const { platform, a, b } = at
  const { next: random, below } = randomOf(seedOr(13))
  /** By act, the ids of its proposals; one that is proposed anew has two. */
  const ids = new Map<number, string[]>()
  const executions = new Map<number, string>()
  const know = (n: number, place: number, { id }: Proposed) => {
    const known = ids.get(n) ?? []
    expect([n, known[place] ?? id]).toEqual([n, id])
    known[place] = id
    ids.set(n, known)
  }
  const approve = async (proposed: Proposed, by: Keypair[], daemon: boolean) => {
    if ((await at.statusOf(proposed.index)) !== 'Active') return
    await Promise.all(by.map((each) => at.vote('approved', proposed, each, daemon)))
  }
  const execute = async (n: number, { id, index }: Proposed) => {
    const kind = kindOf(n)
    if ((await at.statusOf(index)) === 'Executed') return
    if (kind === 'foreign') return at.executeForeign(index, b)
    const transaction = executions.get(n) ?? (await at.builtExecution(id, a))
    executions.set(n, transaction)
    if (kind !== 'submitted') return at.send(Buffer.from(transaction, 'base64'))
    return at.ask('POST', '/v2/transactions', { transaction }, `execution-${n}`)
  }
  const requests = requestsOf<number>({
    async send(n) {
      let proposed = await at.propose(n)
      know(n, 0, proposed)
      await at.untilActive(proposed.index)
      const kind = kindOf(n)
      if (kind === 'rejected' || kind === 'renewed') {
        if ((await at.statusOf(proposed.index)) === 'Active') {
          for (const by of [a, b]) await at.vote('rejected', proposed, by, kind === 'rejected')
        }
      }
      if (kind === 'renewed') {
        proposed = await at.renew(proposed.id, `renewal-${n}`)
        know(n, 1, proposed)
        await at.untilActive(proposed.index)
      }
      if (kind === 'waiting') await approve(proposed, [a], false)
      if (isPaid(n)) {
        await approve(proposed, [a, b], kind !== 'foreign')
        await execute(n, proposed)
      }
      return at.ask('GET', `/v2/proposals/${proposed.id}`)
    },
    check: (n, { status, text }) => expect([n, status], text).toEqual([n, 200]),
  })
  let count = 1
  const began = performance.now()
  await requests.ask(0)
  expect([...requests.open]).toEqual([])
  const whole = performance.now() - began
  const { vault, node } = trapsOf(platform, () => 1)
  const some = trapsOf(platform, () => 1 + below(3))
  const points: PlatformPoint[] = [
    vault('asked'),
    vault('answered'),
    node('sendTransaction', 'asked'),
    node('sendTransaction', 'answered'),
    some.node('getMultipleAccounts', 'answered'),
    node('getSignaturesForAddress', 'answered'),
    vault('delivered', random() * 6),
    some.node('simulateTransaction', 'answered'),
    ...momentsOf(KILLS - 8, random).map((moment) => moment * whole),
  ]
  return {
    ...at,
    requests,
    ids,
    points,
    count: () => count,
    next: () => requests.ask(count++),
  }
}

killTest({
  title: `proposals of a multisig by a daemon that is killed ${KILLS} times (SOAK_SEED=${seedOr(13)}):`,
  skip: lacksSquads !== '',
  start: actsUnderWay,
  points: ({ points }) => points,
  async kill({ platform, requests, next }, point) {
    await platform.killAt(point, PATIENCE_MS, () => [next()])
    await platform.start()
    await requests.askAgain()
  },
  // The worker follows what was executed while the daemon was gone.
  settle: ({ ids, ask }) =>
    vi.waitFor(
      async () => {
        for (const [n, [first, last = first]] of ids) {
          const { data } = (await ask('GET', `/v2/proposals/${last}`)).json
          expect([n, data.status, data.fault]).toEqual([n, endOf(n), null])
        }
      },
      { timeout: 60_000, interval: 500 },
    ),
  end: ({ platform }) => platform.end(),
  holds: {
    async 'each act is paid once to the lamport if two members approved it, and not otherwise'({
      requests,
      count,
      ...at
    }) {
      const { points, platform, multisig } = at
      const { done, open, again } = requests
      process.stdout.write(
        `  ${points.length} kills: ${count()} acts, ${again.resumed} cut off; missed ${JSON.stringify(platform.missed)}\n`,
      )
      expect([open.size, done.size]).toEqual([0, count()])
      let paid = 0
      for (const n of done.keys()) {
        const amount = isPaid(n) ? lamportsOf(n) : 0
        expect([n, await at.wrapped(recipientOf(n))]).toEqual([n, amount])
        paid += amount
      }
      expect(await at.wrapped(multisig.vault)).toBe(WRAPPED - paid)
      expect(platform.missed.length).toBeLessThanOrEqual(1)
    },
    async 'each proposal is on the chain once, and has its end state'({ ids, all, lastIndex, statusOf }) {
      const found = await all()
      const proposed = [...ids.values()].flat()
      expect(found.map(({ id }) => id).toSorted()).toEqual(proposed.toSorted())
      expect(await lastIndex()).toBe(found.length)
      for (const { id, status, approver } of found) {
        const onChain = (await statusOf(approver.transaction_index))?.toLowerCase()
        expect([id, onChain]).toEqual([id, status])
      }
      for (const [n, [first, second]] of ids) {
        if (kindOf(n) !== 'renewed') continue
        expect(found.find(({ id }) => id === first)).toMatchObject({ status: 'rejected', renewed_by: second })
      }
    },
    'each executed proposal knows its transaction, which has its events once': requireEvents,
    'the platform wallet has signed nothing but creations of proposals'({ platform }) {
      const called = (name: string) => createHash('sha256').update(`global:${name}`).digest().subarray(0, 8)
      const inputs = platform.inputs()
      expect(inputs.length).toBeGreaterThan(0)
      for (const input of inputs) {
        expect(input.includes(called('vault_transaction_create'))).toBe(true)
        for (const other of ['proposal_approve', 'vault_transaction_execute'])
          expect(input.includes(called(other))).toBe(false)
      }
    },
  },
})

/** One window each, with the daemon cut off in it. */
async function windows() {
  const at = await treasury()
  const { platform, a, b } = at
  const vault = (when: Trap['when'], nth = 1) => trapsOf(platform, () => nth).vault(when)
  const node = (method: string, when: Trap['when'], nth = 1) => trapsOf(platform, () => nth).node(method, when)
  const cutOff = async (point: PlatformPoint, ask: () => Promise<unknown>) => {
    let answered = false
    const asked = async () => {
      answered = await ask().then(
        () => true,
        () => false,
      )
    }
    await platform.killAt(point, PATIENCE_MS, () => [asked()])
    expect(answered).toBe(false)
  }
  const approved = async (n: number) => {
    const proposed = await at.propose(n)
    await at.untilActive(proposed.index)
    for (const by of [a, b]) await at.vote('approved', proposed, by, false)
    return proposed
  }
  const read = async (id: string) => (await at.ask('GET', `/v2/proposals/${id}`)).json.data
  const ended = (id: string, status: string) =>
    expect.poll(async () => (await read(id)).status, { timeout: 30_000 }).toBe(status)
  /** An execution that is stored and not sent, because the daemon is gone. */
  const storedExecution = async (n: number) => {
    const proposed = await approved(n)
    const transaction = await at.builtExecution(proposed.id, a)
    const submit = () => at.ask('POST', '/v2/transactions', { transaction }, `window-${n}`)
    await cutOff(node('sendTransaction', 'asked'), submit)
    return { ...proposed, submit }
  }
  const rejected = async (n: number) => {
    const proposed = await at.propose(n)
    await at.untilActive(proposed.index)
    for (const by of [a, b]) await at.vote('rejected', proposed, by, false)
    return proposed
  }
  return { ...at, cutOff, storedExecution, rejected, read, ended, vault, node }
}

killTest({
  title: 'proposals of a multisig by a daemon that is killed between two steps:',
  skip: lacksSquads !== '',
  start: windows,
  points: () => [],
  kill: async () => {},
  end: ({ platform }) => platform.end(),
  holds: {
    async 'an execution that is stored and not sent is sent by the next daemon, once'({
      storedExecution,
      platform,
      ended,
      read,
      wrapped,
    }) {
      const { id, submit } = await storedExecution(101)
      await platform.start()
      await ended(id, 'executed')
      const { signature } = (await submit()).json.data
      expect(await read(id)).toMatchObject({ signature, fault: null })
      expect(await wrapped(recipientOf(101))).toBe(lamportsOf(101))
    },
    async 'one that another client executes while the daemon is gone pays once, and the stored one fails'({
      storedExecution,
      platform,
      ended,
      read,
      wrapped,
      executeForeign,
      ask,
      b,
    }) {
      const { id, index, submit } = await storedExecution(102)
      expect(await executeForeign(index, b)).toBeNull()
      await platform.start()
      await ended(id, 'executed')
      const { signature: own } = (await submit()).json.data
      const { signature } = await read(id)
      expect(signature).not.toBe(own)
      const lifecycle = async () => (await ask('GET', `/v2/transactions/${own}`)).json.data.lifecycle
      await expect.poll(lifecycle, { timeout: 60_000 }).toBe('failed')
      expect(await read(id)).toMatchObject({ status: 'executed', signature })
      expect(await wrapped(recipientOf(102))).toBe(lamportsOf(102))
    },
    async 'a creation in several transactions that is cut off twice between them is one proposal'(at) {
      const { proposeMany, lastIndex, cutOff, vault, node, platform, executeForeign, ended, a, b } = at
      const recipients = Array.from({ length: 20 }, (_, n) => recipientOf(200 + n))
      const last = await lastIndex()
      const ask = () => proposeMany(recipients, 1_000_000, 'window-many')
      await cutOff(vault('answered', 2), ask)
      await platform.start()
      await cutOff(node('sendTransaction', 'asked', 2), ask)
      await platform.start()
      const answer = await ask()
      const { signatures } = answer.json.data.proposal
      expect(signatures.length).toBeGreaterThan(1)
      const proposed = proposedIn(answer)
      await ended(proposed.id, 'active')
      expect(await lastIndex()).toBe(last + 1)
      for (const by of [a, b]) await at.vote('approved', proposed, by, true)
      expect(await executeForeign(proposed.index, b)).toBeNull()
      await ended(proposed.id, 'executed')
      for (const each of recipients) expect(await at.lamports(each)).toBe(1_000_000)
    },
    async 'a renewal that is cut off before its signature is continued, and nobody else takes the place'({
      rejected,
      lastIndex,
      cutOff,
      vault,
      platform,
      read,
      renew,
      ended,
    }) {
      const { id } = await rejected(103)
      const last = await lastIndex()
      await cutOff(vault('asked'), () => renew(id, 'renewal-103'))
      await platform.start()
      const { renewed_by } = await read(id)
      const body = { mode: 'signed' }
      const { status, json } = await platform.daemon.request('POST', `/v2/proposals/${id}/renewals`, { body })
      expect([status, json.error.details]).toEqual([400, { proposal: renewed_by }])
      const renewed = await renew(id, 'renewal-103')
      expect(renewed.id).toBe(renewed_by)
      await ended(renewed.id, 'active')
      expect(await lastIndex()).toBe(last + 1)
    },
    async 'a renewal that is stored and not sent is put on the chain once, and its answer is replayed'({
      rejected,
      lastIndex,
      cutOff,
      node,
      platform,
      read,
      renew,
      ended,
    }) {
      const { id } = await rejected(104)
      const last = await lastIndex()
      await cutOff(node('sendTransaction', 'asked'), () => renew(id, 'renewal-104'))
      await platform.start()
      const renewed = await renew(id, 'renewal-104')
      expect((await read(id)).renewed_by).toBe(renewed.id)
      await ended(renewed.id, 'active')
      expect(await lastIndex()).toBe(last + 1)
    },
    'each executed proposal knows its transaction, which has its events once': requireEvents,
  },
})
