/** Calls of Metaplex Core whose whole data is checked, for collections, NFTs and stakes. */
import { hexOf } from '../../src/solana/bytes.ts'
import { METAPLEX_CORE } from '../../src/solana/programs/metaplex-core.ts'
import type { Call } from './demand.ts'

export const coreCall = (
  call: string,
  fields: Call['fields'],
  data: Uint8Array | ((hex: string) => boolean),
): Call => ({
  program: METAPLEX_CORE.id,
  call,
  fields,
  data: typeof data === 'function' ? data : hexOf(data),
})

export const NO_PLUGINS = { plugins: [], external_plugin_adapters: [] }
