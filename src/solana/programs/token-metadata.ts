/** Metaplex Token Metadata (metaplex-foundation/mpl-token-metadata): name, symbol and URI of a mint, in an account. */
import { addressBytes } from '../addresses.ts'
import { utf8 } from '../bytes.ts'
import { SYSTEM_PROGRAM } from '../program-ids.ts'
import { PROGRAMS } from '../programs.ts'
import { programTable } from './table.ts'

const CREATORS = 'creators:?*{address:pubkey,verified:bool,share:u8}'
const COLLECTION = 'collection:?{verified:bool,key:pubkey}'
const USES = 'uses:?{use_method:<Burn,Multiple,Single>,remaining:u64,total:u64}'
const DATA = `name:string,symbol:string,uri:string,seller_fee_basis_points:u16,${CREATORS}` as const
const FLAGS = 'primary_sale_happened:?bool,is_mutable:?bool'
const AS_AUTHORITY = `{new_update_authority:?pubkey,data:?{${DATA}},${FLAGS}}` as const
const METADATA =
  `update_authority:pubkey mint:pubkey name:string symbol:string uri:string seller_fee_basis_points:u16 ${CREATORS} primary_sale_happened:bool is_mutable:bool` as const

export const TOKEN_METADATA = programTable(PROGRAMS.tokenMetadata.id, {
  fixed: { system_program: SYSTEM_PROGRAM },
  instructions: {
    update_metadata_account_v2: [
      '0f',
      'metadata:w update_authority:s',
      `data:?{${DATA},${COLLECTION},${USES}} new_update_authority:?pubkey primary_sale_happened:?bool is_mutable:?bool`,
    ],
    create_metadata_account_v3: [
      '21',
      'metadata:w mint mint_authority:s payer:sw update_authority system_program',
      `name:string symbol:string uri:string seller_fee_basis_points:u16 ${CREATORS} ${COLLECTION} ${USES} is_mutable:bool collection_details:?<V1{size:u64},V2{padding:hex8}>`,
    ],
    /** What other clients send. Further parts of an update are shown as bytes, and so are updates by other delegates. */
    update: [
      '32',
      'authority:s delegate_record:o token:o mint metadata:w edition:o payer:sw system_program sysvar_instructions authorization_rules_program:o authorization_rules:o',
      `update_args:<V1${AS_AUTHORITY},AsUpdateAuthorityV2${AS_AUTHORITY},AsAuthorityItemDelegateV2{new_update_authority:?pubkey,${FLAGS}}>`,
    ],
  },
  accounts: {
    metadata: ['04', METADATA],
    /** Metadata with its last parts, without which an older account ends. */
    whole_metadata: ['04', `${METADATA} edition_nonce:?u8 token_standard:?u8 ${COLLECTION} ${USES}`],
    use_authority_record: ['08', ''],
    collection_authority_record: ['09', ''],
    metadata_delegate: ['0c', ''],
    holder_delegate: ['0e', ''],
  },
})

/** Seeds of the address of a mint's metadata. */
export const metadataSeeds = (mint: string): Uint8Array[] => [
  utf8('metadata'),
  addressBytes(TOKEN_METADATA.id),
  addressBytes(mint),
]

/** A text without the zeros with which the program pads it. */
export const unpadded = (text: string): string => text.replace(/\0+$/, '')
