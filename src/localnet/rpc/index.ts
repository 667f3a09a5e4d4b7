/** JSON-RPC 2.0 over the embedded chain, with the responses of a validator. */
import { base58 } from '@scure/base'
import type { ChainAccount } from '../../solana/accounts.ts'
import { addressBytes } from '../../solana/addresses.ts'
import { parseJson, toJson } from '../../solana/json.ts'
import { TOKEN } from '../../solana/programs/token.ts'
import { TOKEN_ACCOUNT_SIZE } from '../../solana/token-accounts.ts'
import { TOKEN_PROGRAM_NAMES } from '../../solana/token-programs.ts'
import { GENESIS_SLOT, SLOTS_PER_EPOCH } from '../clock.ts'
import { CopyTooSoonError } from '../journal.ts'
import type { LocalChain } from '../types.ts'
import { encodeAccount, viewOf } from './account-encoding.ts'
import { blockMethods } from './blocks.ts'
import { bundleMethods } from './bundles.ts'
import { clusterCallMethods } from './cluster-calls/index.ts'
import { epochOf } from './epochs.ts'
import { CODE, invalidParams, RpcError } from './errors.ts'
import { type AccountFilters, matchesFilters, readFilters } from './filters.ts'
import { API_VERSION, FEATURE_SET, type RpcMethods, readableAt, withContext } from './method.ts'
import { asAmount, asBoolean, asConfig, asInteger, asList, asPubkey, onlyCommitment, requireParams } from './params.ts'
import { sendingMethods } from './sending.ts'
import { simulationMethods } from './simulation.ts'
import { tokenMethods } from './tokens.ts'
import { transactionMethods } from './transactions.ts'

export interface LocalRpcOptions {
  /** Receives errors that are not caused by the client; the response to them is `Internal error`. */
  onError?: (error: unknown, method: string) => void
}

interface HandleOptions {
  /** Whether the operator's methods (`svc_*`) may be called; true by default. */
  operator?: boolean
}

export interface LocalRpc {
  readonly chain: LocalChain
  /** Responds to a request or a batch; undefined when it has only notifications. Never throws. */
  handle(body: string | Uint8Array, options?: HandleOptions): Promise<string | undefined>
}

/** Maximum characters of all responses of one batch, because a body of 1 MiB could request gigabytes. */
const MAX_BATCH_ANSWER = 64 * 1024 * 1024

type Id = string | number | bigint | null

const resultAnswer = (id: Id, result: unknown): string =>
  `{"jsonrpc":"2.0","result":${toJson(result ?? null)},"id":${toJson(id)}}`

/** Serializes a response with `error`. */
export function errorObject(id: Id, { code, message, data }: RpcError): string {
  return toJson({ jsonrpc: '2.0', error: { code, message, ...(data !== undefined && { data }) }, id })
}

export interface RpcRequest {
  id: Id
  method: string
  params: readonly unknown[]
}

const isId = (id: unknown): id is Id =>
  id === null || typeof id === 'string' || typeof id === 'number' || typeof id === 'bigint'

const invalidRequest = () => new RpcError(CODE.invalidRequest, 'Invalid request')

/** Parses one request; null for a notification. Throws RpcError with -32600 or -32602. */
export function readRequest(value: unknown): RpcRequest | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalidRequest()
  const { jsonrpc, id, method, params = [] } = value as Record<string, unknown>
  if (jsonrpc !== '2.0' || typeof method !== 'string' || (id !== undefined && !isId(id))) throw invalidRequest()
  if (id === undefined) return null
  if (params !== null && !Array.isArray(params)) {
    throw new RpcError(CODE.invalidParams, 'Invalid params: invalid type: map, expected a sequence.')
  }
  return { id, method, params: params ?? [] }
}

/** Returns the id for the response to a value that may not be a valid request. */
export function jsonRpcId(value: unknown): Id {
  const id = typeof value === 'object' && value !== null ? (value as { id?: unknown }).id : null
  return isId(id) ? id : null
}

const answerText = (body: string | Uint8Array): string =>
  typeof body === 'string' ? body : new TextDecoder().decode(body)

const batchTooLarge = () =>
  new RpcError(CODE.internal, 'The answers of this batch are too large: ask in smaller batches')

/** Creates the JSON-RPC handler of a chain; `handle` takes the body of a POST. */
export function createRpc(chain: LocalChain, { onError }: LocalRpcOptions = {}): LocalRpc {
  const methods: RpcMethods = {
    ...accountMethods,
    ...programAccountMethods,
    ...tokenMethods,
    ...transactionMethods,
    ...blockMethods,
    ...clusterMethods,
    ...clusterCallMethods,
    ...sendingMethods,
    ...simulationMethods,
    ...bundleMethods(),
  }

  function call(request: RpcRequest, operator: boolean): unknown {
    const table = operator && Object.hasOwn(operatorMethods, request.method) ? operatorMethods : methods
    const method = Object.hasOwn(table, request.method) ? table[request.method] : undefined
    if (!method) throw new RpcError(CODE.methodNotFound, 'Method not found')
    return method(chain, request.params)
  }

  async function answer(value: unknown, operator: boolean): Promise<string | undefined> {
    try {
      const request = readRequest(value)
      return request ? resultAnswer(request.id, await call(request, operator)) : undefined
    } catch (error) {
      if (error instanceof RpcError) return errorObject(jsonRpcId(value), error)
      onError?.(error, String((value as { method?: unknown }).method))
      return errorObject(jsonRpcId(value), new RpcError(CODE.internal, 'Internal error'))
    }
  }

  return {
    chain,
    async handle(body, { operator = true } = {}) {
      let request: unknown
      try {
        request = parseJson(answerText(body))
      } catch {
        return errorObject(null, new RpcError(CODE.parse, 'Parse error'))
      }
      if (!Array.isArray(request)) return answer(request, operator)
      if (request.length === 0) return errorObject(null, invalidRequest())
      const answers: string[] = []
      let size = 0
      for (const one of request) {
        const text =
          size <= MAX_BATCH_ANSWER ? await answer(one, operator) : errorObject(jsonRpcId(one), batchTooLarge())
        if (text !== undefined) answers.push(text)
        size += text?.length ?? 0
        // The loop yields, so that other requests can run during a long batch.
        await new Promise((resolve) => setImmediate(resolve))
      }
      return answers.length > 0 ? `[${answers.join(',')}]` : undefined
    },
  }
}

/** Maximum seconds of one call, a hundred years; far beyond that, dates are no longer valid. */
const MAX_SECONDS = 100 * 366 * 86_400

function advanceClock(chain: LocalChain, params: readonly unknown[]) {
  requireParams(params, 1)
  const [seconds] = params
  if (typeof seconds !== 'number' || !(seconds > 0 && seconds <= MAX_SECONDS)) {
    throw invalidParams(`Invalid param: seconds must be a number above 0 and at most ${MAX_SECONDS}`)
  }
  try {
    chain.advance(seconds)
  } catch (error) {
    throw error instanceof RangeError ? invalidParams(`Invalid param: ${error.message}`) : error
  }
  return { slot: chain.slot(), unixTimestamp: chain.unixTimestamp() }
}

function copyJournal(chain: LocalChain) {
  try {
    return { file: chain.copyJournal() }
  } catch (error) {
    throw error instanceof CopyTooSoonError ? new RpcError(CODE.internal, error.message) : error
  }
}

const operatorMethods: RpcMethods = {
  svc_status: (chain) => chain.status(),
  svc_advance: advanceClock,
  svc_copy: copyJournal,
}

// Implements getProgramAccounts with the most selective index.

type AccountEntries = Iterable<readonly [address: string, account: ChainAccount]>

/**
 * Selects candidate accounts. The indexes by wallet and by mint cover token accounts only, so the filters must select
 * those.
 */
function candidates(chain: LocalChain, program: string, filters: AccountFilters): AccountEntries {
  const tokenAccounts = filters.tokenAccountState || filters.dataSizes.includes(TOKEN_ACCOUNT_SIZE)
  if (!TOKEN_PROGRAM_NAMES[program] || !tokenAccounts) return chain.accountsOwnedBy(program)
  const keyAt = (offset: number) =>
    filters.memcmps.find((memcmp) => memcmp.offset === offset && memcmp.bytes.length === 32)?.bytes
  const owner = keyAt(TOKEN.offsetOf('account', 'owner'))
  if (owner) return chain.tokenAccountsOf(base58.encode(owner))
  const mint = keyAt(TOKEN.offsetOf('account', 'mint'))
  return mint ? chain.tokenAccountsOfMint(base58.encode(mint)) : chain.accountsOwnedBy(program)
}

function programAccounts(chain: LocalChain, params: readonly unknown[]) {
  requireParams(params, 1)
  const program = asPubkey(params[0])
  const config = asConfig(params[1])
  const filters = readFilters(config.filters)
  const view = viewOf(config)
  const commitment = readableAt(chain, config)
  const matches: unknown[] = []
  for (const [pubkey, account] of candidates(chain, program, filters)) {
    if (account.owner !== program || !matchesFilters(account, filters)) continue
    matches.push({ pubkey, account: encodeAccount(chain, [pubkey, account], view) })
  }
  return asBoolean(config.withContext) ? withContext(chain, commitment, matches) : matches
}

const programAccountMethods: RpcMethods = { getProgramAccounts: programAccounts }

// Methods that read accounts by address.

const MAX_REQUESTED_ACCOUNTS = 100
/** Maximum data of an account in bytes, as in Agave's MAX_PERMITTED_DATA_LENGTH. */
const MAX_SPACE = 10n * 1024n * 1024n

function balance(chain: LocalChain, params: readonly unknown[]) {
  requireParams(params, 1)
  const address = asPubkey(params[0])
  const commitment = readableAt(chain, asConfig(params[1]))
  return withContext(chain, commitment, chain.account(address)?.lamports ?? 0n)
}

function getAccountInfo(chain: LocalChain, params: readonly unknown[]) {
  requireParams(params, 1)
  const address = asPubkey(params[0])
  const config = asConfig(params[1])
  const view = viewOf(config)
  const commitment = readableAt(chain, config)
  const account = chain.account(address)
  return withContext(chain, commitment, account && encodeAccount(chain, [address, account], view))
}

function multipleAccounts(chain: LocalChain, params: readonly unknown[]) {
  requireParams(params, 1)
  const list = asList(params[0])
  if (list.length > MAX_REQUESTED_ACCOUNTS)
    throw invalidParams(`Too many inputs provided; max ${MAX_REQUESTED_ACCOUNTS}`)
  const addresses = list.map(asPubkey)
  const config = asConfig(params[1])
  const view = viewOf(config, 'base64')
  const commitment = readableAt(chain, config)
  const value = addresses.map((address) => {
    const account = chain.account(address)
    return account && encodeAccount(chain, [address, account], view)
  })
  return withContext(chain, commitment, value)
}

function minimumBalance(chain: LocalChain, params: readonly unknown[]) {
  requireParams(params, 1)
  const space = asAmount(params[0])
  onlyCommitment(params[1])
  if (space > MAX_SPACE) throw new RpcError(CODE.invalidRequest, 'Invalid request')
  return chain.minimumBalance(Number(space))
}

const accountMethods: RpcMethods = {
  getBalance: balance,
  getAccountInfo: getAccountInfo,
  getMultipleAccounts: multipleAccounts,
  getMinimumBalanceForRentExemption: minimumBalance,
}

// Methods about the chain as a whole: its position, its identity, its consensus, and the speed of its slots.

const MAX_SAMPLES = 720
const SAMPLE_SECONDS = 60

const slotAt = (chain: LocalChain, params: readonly unknown[]): number =>
  chain.slot(readableAt(chain, asConfig(params[0])))

function epochInfo(chain: LocalChain, params: readonly unknown[]) {
  const absoluteSlot = slotAt(chain, params)
  return {
    epoch: epochOf(absoluteSlot),
    slotIndex: absoluteSlot % SLOTS_PER_EPOCH,
    slotsInEpoch: SLOTS_PER_EPOCH,
    absoluteSlot,
    blockHeight: absoluteSlot,
    transactionCount: chain.transactionCount(),
  }
}

/** Returns one sample, of the last minute; a validator has one for each of the last minutes. */
function performanceSamples(chain: LocalChain, params: readonly unknown[]) {
  if (params[0] !== undefined && params[0] !== null && asInteger(params[0]) > MAX_SAMPLES) {
    throw invalidParams(`Invalid limit; max ${MAX_SAMPLES}`)
  }
  const slot = chain.slot()
  const numSlots = Math.round((SAMPLE_SECONDS * 1000) / chain.slotMs())
  let count = 0
  for (const at of chain.slotsWithTransactions(Math.max(GENESIS_SLOT, slot - numSlots), slot, numSlots)) {
    count += chain.transactionsInSlot(at).length
  }
  return [{ slot, numTransactions: count, numNonVoteTransactions: count, numSlots, samplePeriodSecs: SAMPLE_SECONDS }]
}

/** Bytes of the aggregate signature of an Alpenglow certificate. */
const CERTIFICATE_SIGNATURE_BYTES = 192

/** Returns the certificate of the block from which the chain changed to Alpenglow. No validator has signed it. */
function alpenglowCertificate(chain: LocalChain) {
  const slot = chain.alpenglowSlot()
  if (slot === null) return null
  return {
    block: { slot, blockId: [...addressBytes(chain.blockhashOf(slot))] },
    signature: { signature: new Array<number>(CERTIFICATE_SIGNATURE_BYTES).fill(0), bitmap: [] },
  }
}

const clusterMethods: RpcMethods = {
  getSlot: slotAt,
  getBlockHeight: slotAt,
  getEpochInfo: epochInfo,
  getGenesisHash: (chain) => chain.genesisHash,
  getAgGenesisCert: alpenglowCertificate,
  getVersion: () => ({ 'solana-core': API_VERSION, 'feature-set': FEATURE_SET }),
  getHealth: (chain) => {
    // This throws when the chain has stopped.
    chain.latestBlockhash()
    return 'ok'
  },
  getRecentPerformanceSamples: performanceSamples,
}
