/** Who can use a plugin, in words. */
import type { PluginAuthority } from '../../chain/programs/metaplex-core/index.ts'

const WORDS = { Owner: 'its owner', UpdateAuthority: 'its update authority', None: 'nobody' } as const

export const holderOf = (authority: PluginAuthority): string =>
  authority.type === 'Address' ? authority.address : WORDS[authority.type]
