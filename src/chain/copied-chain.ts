/** A copy of the cluster in its own thread, which reads accounts from the cluster when they are first needed. */
import { createHash } from 'node:crypto'
import type { ChainThread } from '../localnet/chain-thread.ts'
import type { LocalRpc } from '../localnet/rpc/index.ts'
import type { LandedTransaction } from '../localnet/types.ts'
import { type ApiError, internal } from '../platform/errors.ts'
import type { Config } from '../settings/config.ts'
import type { ChainAccount } from '../solana/accounts.ts'
import { DEFAULT_SETTINGS, readRentSysvar } from '../solana/cluster-settings.ts'
import { ACCOUNTS_PER_CALL } from '../solana/constants.ts'
import { parseJson, toJson } from '../solana/json.ts'
import { decodeWireTransaction, signatureOffset } from '../solana/messages.ts'
import { CLOCK_SYSVAR, RENT_SYSVAR, RUNTIME_OWNERS, SYSTEM_PROGRAM } from '../solana/program-ids.ts'
import type { Program } from '../solana/programs.ts'
import { readTokenAccount } from '../solana/token-accounts.ts'
import type { Chain } from './connection.ts'
import { callNode, type NodeCalls } from './nodes/node-call.ts'
import { askNode } from './nodes/rpc-faults.ts'
import { chainTimeOf } from './reads/chain-clock.ts'
import { accountsAtSlot } from './reads/node-reads.ts'

/** The most that is read from the cluster: accounts, and bytes of their data. */
const MAX_COPIED_ACCOUNTS = 512
const MAX_COPIED_BYTES = 16 * 1024 * 1024
const SIGNATURE_BYTES = 64

/** A transaction that landed on the copy, with all balances before and after it. */
export type CopyLanding = LandedTransaction

export interface CopiedChain {
  /** The chain as builders see it: they read and simulate on the copy, and learn fees from the cluster. */
  chain: Chain
  /** First and last slot of the cluster at which accounts were read. */
  slots(): { oldest: number; newest: number }
  /** Reads from the cluster what the copy does not have yet, and returns the accounts of the copy. */
  accounts(addresses: readonly string[]): Promise<(ChainAccount | null)[]>
  /** Overwrites an account of the copy. */
  setAccount(address: string, account: ChainAccount): Promise<void>
  /** Executes a transaction on the copy; signatures are not needed. Throws TransactionRefused. */
  land(transaction: Uint8Array): Promise<LandedTransaction>
  /** Moves the clock of the copy ahead. */
  advance(seconds: number): Promise<void>
  /** Ends the thread. */
  close(): void
}

interface CopyOptions {
  source: Chain
  config: Pick<Config, 'programsDir'>
  /** Programs that the copy must have; they come from the program cache. */
  programs: readonly Program[]
  /** Ends the copy, and everything that waits for it, with its reason. */
  signal: AbortSignal
}

/**
 * Opens the copy with the clock and the rent of the cluster. It writes no file and only reads from the cluster. Throws
 * internal_error when a program is not in the program cache, or the node fails.
 */
export async function copyChain({ source, config, programs, signal }: CopyOptions): Promise<CopiedChain> {
  const { accounts, slot } = await askNode('Reading the clock and the rent', () =>
    accountsAtSlot(source, [CLOCK_SYSVAR, RENT_SYSVAR]),
  )
  const [clock = null, rent = null] = accounts
  const { unixSeconds } = await chainTimeOf(clock)
  const { openChainThread } = await import('../localnet/chain-thread.ts')
  const settings = rent === null ? undefined : { ...DEFAULT_SETTINGS, rent: rentOf(rent) }
  const { programsDir } = config
  const thread = openChainThread({ programsDir, settings, unixSeconds }, signal)
  try {
    await requireCached(thread, programs, programsDir)
  } catch (error) {
    thread.close()
    throw error
  }
  const copier = copierOf(thread, source, { slot, signal })
  const rpc = readingThrough(thread, copier.copy, source)
  return {
    chain: chainOnCopy(source, rpc),
    slots: copier.slots,
    async accounts(addresses) {
      await copier.copy(addresses)
      return thread.accounts(addresses)
    },
    setAccount(address, account) {
      copier.known.add(address)
      return thread.setAccount(address, account)
    },
    async land(transaction) {
      const raw = withStandInSignatures(transaction)
      await copier.copy(decodeWireTransaction(raw).message.keys)
      return thread.send(raw)
    },
    advance: (seconds) => thread.advance(seconds),
    close: () => thread.close(),
  }
}

/** Copies accounts once each, and counts them. */
function copierOf(thread: ChainThread, node: NodeCalls, { slot, signal }: { slot: number; signal: AbortSignal }) {
  const known = new Set<string>()
  const slots = { oldest: slot, newest: slot }
  let bytes = 0

  /** `present` is what the copy has at the addresses. */
  async function copyPart(addresses: readonly string[], present: readonly (ChainAccount | null)[]): Promise<string[]> {
    signal.throwIfAborted()
    // The accounts must not be older than those that were read before.
    const read = await askNode('Copying accounts', () => accountsAtSlot(node, addresses, slots.newest))
    slots.newest = Math.max(slots.newest, read.slot)
    const mints: string[] = []
    for (const [i, address] of addresses.entries()) {
      const account = read.accounts[i] ?? null
      bytes += account?.data.length ?? 0
      if (bytes > MAX_COPIED_BYTES) throw tooMuch(`${MAX_COPIED_BYTES / 1024 / 1024} MiB of accounts`)
      known.add(address)
      if (account !== null && (account.executable || RUNTIME_OWNERS.has(account.owner))) continue
      if (account !== null || (present[i] ?? null) !== null) await thread.setAccount(address, account ?? NO_ACCOUNT)
      const token = account && readTokenAccount(account)
      if (token) mints.push(token.mint)
    }
    return mints
  }

  async function copy(addresses: readonly string[]): Promise<void> {
    const asked = [...new Set(addresses)].filter((address) => !known.has(address))
    if (asked.length === 0) return
    const present = await thread.accounts(asked)
    const missing = asked.flatMap((address, i) => {
      const account = present[i] ?? null
      const isOwn = account !== null && (account.executable || RUNTIME_OWNERS.has(account.owner))
      return isOwn ? [] : [{ address, account }]
    })
    if (known.size + missing.length > MAX_COPIED_ACCOUNTS) throw tooMuch(`${MAX_COPIED_ACCOUNTS} accounts`)
    const mints: string[] = []
    for (let at = 0; at < missing.length; at += ACCOUNTS_PER_CALL) {
      const part = missing.slice(at, at + ACCOUNTS_PER_CALL)
      const [addresses, accounts] = [part.map(({ address }) => address), part.map(({ account }) => account)]
      mints.push(...(await copyPart(addresses, accounts)))
    }
    // The decimals of a token account are in its mint.
    if (mints.length > 0) await copy(mints)
  }

  return { copy, known, slots: () => ({ ...slots }) }
}

const NO_ACCOUNT: ChainAccount = { lamports: 0n, owner: SYSTEM_PROGRAM, data: new Uint8Array(), executable: false }

const tooMuch = (what: string): ApiError => internal(`A rehearsal copies at most ${what} of the cluster`)

function rentOf({ data }: ChainAccount) {
  try {
    return readRentSysvar(data)
  } catch (error) {
    throw internal(`The RPC node answers no rent: ${(error as Error).message}`, { cause: error })
  }
}

async function requireCached(thread: ChainThread, programs: readonly Program[], folder: string): Promise<void> {
  const accounts = await thread.accounts(programs.map(({ id }) => id))
  const missing = programs.find((_, i) => !accounts[i]?.executable)
  if (missing === undefined) return
  throw internal(
    `${missing.name} (${missing.id}) is not in the program cache ${folder}, from which a rehearsal takes its programs: fill it with \`svc localnet pull\``,
    { details: { program: missing.id } },
  )
}

type CopyRpc = Pick<LocalRpc, 'handle'>

/** JSON-RPC over the copy, which has the accounts of each request before it answers. */
function readingThrough(
  thread: ChainThread,
  copy: (addresses: readonly string[]) => Promise<void>,
  source: Chain,
): CopyRpc {
  return {
    async handle(body) {
      const { id, method, params } = parseJson(typeof body === 'string' ? body : new TextDecoder().decode(body)) as {
        id: unknown
        method: string
        params: readonly unknown[]
      }
      // Priority fees depend on what others send to the cluster.
      if (method === 'getRecentPrioritizationFees') {
        return toJson({ jsonrpc: '2.0', result: await source.call(method, params), id })
      }
      await copy(addressesIn(method, params))
      return thread.handle(body)
    },
  }
}

/** The accounts that a request reads. */
function addressesIn(method: string, [first]: readonly unknown[]): string[] {
  switch (method) {
    case 'getAccountInfo':
    case 'getBalance':
    case 'getTokenAccountBalance':
      return [String(first)]
    case 'getMultipleAccounts':
      return (first as unknown[]).map(String)
    case 'simulateTransaction':
      return [...decodeWireTransaction(Buffer.from(String(first), 'base64')).message.keys]
    default:
      return []
  }
}

function chainOnCopy(source: Chain, rpc: CopyRpc): Chain {
  const call = async <T>(method: string, params: readonly unknown[]) => {
    const post = async (body: string) => ({ status: 200, text: (await rpc.handle(body)) ?? '' })
    return (await callNode(post, method, params)) as T
  }
  return {
    cluster: source.cluster,
    hasSeveralEndpoints: false,
    provesAbsence: false,
    ending: source.ending,
    endpoint: () => source.endpoint(),
    servedAt: () => undefined,
    call,
    // A copy has only accounts that were requested by address, so it cannot list all accounts of a program.
    callLarge: () => Promise.reject(new Error('a copied chain lists no accounts')),
    witnesses: async (read) => [await read({ call })],
    endpointReports: () => [],
    onSignature: undefined,
    consensus: source.consensus,
    // Whether a ticker is taken and a program exists is decided by the cluster.
    genesisHash: () => source.genesisHash(),
    hasProgram: (id) => source.hasProgram(id),
    isUnused: () => false,
    local: () => Promise.reject(new Error('a copied chain runs in another thread')),
    rpc: () => Promise.reject(new Error('a copied chain runs in another thread')),
    ping: async () => undefined,
    close: async () => undefined,
  }
}

/**
 * The copy identifies transactions by their first signature without checking it: here the hash of what would be signed.
 */
function withStandInSignatures(transaction: Uint8Array): Uint8Array {
  const raw = Uint8Array.from(transaction)
  const { signatures, messageBytes } = decodeWireTransaction(raw)
  for (const place of signatures.keys()) {
    const standIn = createHash('sha512').update(messageBytes).update(Buffer.of(place)).digest()
    raw.set(standIn.subarray(0, SIGNATURE_BYTES), signatureOffset(raw, place))
  }
  return raw
}
