/** Describes the authority of a plugin for messages. */
import type { PluginAuthority } from '../../chain/programs/metaplex-core/index.ts'

const AUTHORITY_CLASSES = { Owner: 'its owner', UpdateAuthority: 'its update authority', None: 'nobody' } as const

export const describeAuthority = (authority: PluginAuthority): string =>
  authority.type === 'Address' ? authority.address : AUTHORITY_CLASSES[authority.type]
