/** Sources of programs and accounts: a cluster's JSON-RPC, or a folder of files. */

import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Cluster } from '../../settings/cluster.ts'
import { parseJson } from '../../solana/json.ts'
import { type AccountFile, accountFile, parseAccountFile, programFile } from './cache.ts'
import { binaryIn, programDataAddress } from './elf.ts'
import { type RpcCallOptions, rpcText } from './rpc.ts'
import { clusterSettings, folderSettings, type SettingsSource } from './settings.ts'

interface ProgramBinary {
  bytes: Uint8Array
  /** Owner of the program's account, or null when the source does not know it. */
  loader: string | null
  slot: number | null
}

/** Its methods return null for a missing account, and throw for one that cannot be read. */
export interface ProgramSource extends SettingsSource {
  program(id: string): Promise<ProgramBinary | null>
  account(address: string): Promise<{ file: AccountFile; slot: number | null } | null>
}

/** Reads `<program id>.so`, `accounts/<address>.json` and `cluster.json` of a folder. */
export function folderSource(folder: string): ProgramSource {
  const read = async (file: string) => (existsSync(join(folder, file)) ? readFile(join(folder, file)) : null)
  return {
    label: folder,
    async program(id) {
      const bytes = await read(programFile(id))
      return bytes && { bytes, loader: null, slot: null }
    },
    async account(address) {
      const text = await read(accountFile(address))
      return text && { file: parseAccountFile(parseJson(text.toString('utf8')), address), slot: null }
    },
    settings: async () => folderSettings(folder),
  }
}

interface RpcAccount {
  lamports: number
  owner: string
  data: [string, string]
  executable: boolean
}

/** Reads finalized accounts of a cluster. Requests to a busy RPC node (429, 5xx) are repeated. */
export function rpcSource(
  { rpcUrl, label }: Pick<Cluster, 'rpcUrl' | 'label'>,
  options: RpcCallOptions = {},
): ProgramSource {
  const read = (address: string) => fetchAccount(rpcUrl, address, options)
  return {
    label,
    async program(id) {
      const program = await read(id)
      if (program.account === null) return null
      const { owner: loader } = program.account
      const dataAddress = programDataAddress(ownedData(program.account))
      const { account, slot } = dataAddress === null ? program : await read(dataAddress)
      if (account === null) throw new Error('its program data account is gone: the program was closed')
      return { bytes: binaryIn(ownedData(account)), loader, slot }
    },
    async account(address) {
      const { account, slot } = await read(address)
      if (account === null) return null
      return { file: parseAccountFile(account, address), slot }
    },
    settings: () => clusterSettings(rpcUrl, options),
  }
}

const ownedData = ({ owner, data: [text] }: RpcAccount) => ({ owner, data: Buffer.from(text, 'base64') })

async function fetchAccount(
  url: string,
  address: string,
  options: RpcCallOptions,
): Promise<{ account: RpcAccount | null; slot: number }> {
  const outcome = await rpcText(
    url,
    'getAccountInfo',
    [address, { encoding: 'base64', commitment: 'finalized' }],
    options,
  )
  if ('fault' in outcome) throw new Error(outcome.fault)
  const { context, value } = (outcome.result ?? {}) as { context?: { slot?: unknown }; value?: RpcAccount | null }
  const isAccount = value === null || (typeof value?.owner === 'string' && typeof value.data?.[0] === 'string')
  if (typeof context?.slot !== 'number' || !isAccount)
    throw new Error('the RPC node answers something that is not an account')
  return { account: value ?? null, slot: context.slot }
}
