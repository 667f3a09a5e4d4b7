/** Reads which builds of programs a cluster runs: slot, upgrade authority and bytes, all of which may be hostile. */

import { PROGRAM_DATA_HEADER } from '../../solana/programs/upgradeable-loader.ts'
import type { Program } from '../../solana/programs.ts'
import type { NodeCalls } from '../nodes/node-call.ts'
import { binaryIn, checkElf, programDataAddress, programDataHeader } from './elf.ts'

/** Largest account of the cluster. */
const MAX_ACCOUNT_BYTES = 10 * 1024 * 1024
const COMMITMENT = 'finalized'

export interface Deployment {
  program: Program
  /** Slot of the last deployment; null for a loader without upgrades. */
  slot: number | null
  /** Who can upgrade it; null if nobody can. */
  authority: string | null
  /** The account that has the binary. */
  dataAddress: string
  /** Why the cluster cannot run it, as when it was closed; null if it can. */
  fault: string | null
}

interface SlicedAccount {
  owner: string
  executable: boolean
  data: Buffer
}

/**
 * Reads the deployments of the programs that the cluster has, in two small calls. A program that is closed, or whose
 * accounts are not those of a program, has a fault. Throws an Error for answers that show no accounts.
 */
export async function readDeployments(node: NodeCalls, programs: readonly Program[]): Promise<Deployment[]> {
  const ids = programs.map(({ id }) => id)
  const heads = await readAccounts(node, ids, PROGRAM_DATA_HEADER)
  const found = programs.flatMap((program, i) => {
    const head = heads[i] ?? null
    if (head === null || !head.executable) return []
    const data = orFault(() => ({ dataAddress: programDataAddress(head) }))
    return [{ program, dataAddress: null, fault: null, ...data }]
  })
  const dataAddresses = found.flatMap(({ dataAddress }) => dataAddress ?? [])
  const headers = await readAccounts(node, dataAddresses, PROGRAM_DATA_HEADER)
  return found.map(({ program, dataAddress, fault }) => {
    const none = { program, dataAddress: dataAddress ?? program.id, slot: null, authority: null, fault }
    if (dataAddress === null) return none
    const header = headers[dataAddresses.indexOf(dataAddress)] ?? null
    if (header === null) return { ...none, fault: 'it was closed: its program data account is gone' }
    return { ...none, ...orFault(() => programDataHeader(header)) }
  })
}

/** Reads the whole binary of a deployment, with its trailing zeros; a fault if it has changed since, or is none. */
export async function readBuild(
  node: NodeCalls,
  { dataAddress, slot }: Deployment,
): Promise<{ binary: Uint8Array; fault: null } | { binary?: undefined; fault: string }> {
  const [account = null] = await readAccounts(node, [dataAddress])
  if (account === null) return { fault: 'it was closed: the account with its binary is gone' }
  return orFault(() => {
    if (slot !== null && programDataHeader(account).slot !== slot) throw new Error('it was upgraded while it was read')
    const binary = binaryIn(account)
    checkElf(binary)
    return { binary, fault: null }
  })
}

/** The fault of one program ends no look at the others. */
function orFault<T>(read: () => T): T | { fault: string } {
  try {
    return read()
  } catch (error) {
    return { fault: (error as Error).message }
  }
}

async function readAccounts(
  node: NodeCalls,
  addresses: readonly string[],
  length?: number,
): Promise<(SlicedAccount | null)[]> {
  if (addresses.length === 0) return []
  const config = {
    encoding: 'base64',
    commitment: COMMITMENT,
    ...(length === undefined ? {} : { dataSlice: { offset: 0, length } }),
  }
  const answer = await node.call<{ value?: unknown } | null>('getMultipleAccounts', [addresses, config])
  const value = answer?.value
  if (!Array.isArray(value) || value.length !== addresses.length) throw new Error('the RPC node answers no accounts')
  return value.map((each) => (each === null ? null : slicedAccount(each, length ?? MAX_ACCOUNT_BYTES)))
}

function slicedAccount(account: unknown, most: number): SlicedAccount {
  const { owner, executable, data } = (account ?? {}) as Record<string, unknown>
  const text = Array.isArray(data) && data[1] === 'base64' ? data[0] : undefined
  if (typeof owner !== 'string' || typeof text !== 'string') throw new Error('the RPC node answers no account')
  if (text.length > Math.ceil(most / 3) * 4 + 4) throw new Error(`an account has more than ${most} bytes`)
  return { owner, executable: executable === true, data: Buffer.from(text, 'base64') }
}
