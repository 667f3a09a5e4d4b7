/** The metadata in mints of Token-2022 (spl-token-metadata-interface), beside the instructions of all token programs. */
import type { ByteReader } from '../byte-reader.ts'
import { SYSTEM_PROGRAM, TOKEN_2022_PROGRAM } from '../program-ids.ts'
import { fieldType } from './field-types.ts'
import { programTable } from './table.ts'
import { unpadded } from './token-metadata.ts'

const CHANGED = 'metadata:w update_authority:s'

/** First bytes are hashes of the interface's own names, like `spl_token_metadata_interface:updating_field`. */
export const TOKEN_METADATA_INTERFACE = programTable(TOKEN_2022_PROGRAM, {
  instructions: {
    initialize_token_metadata: [
      'd2e11ea258b84d8d',
      'metadata:w update_authority mint mint_authority:s',
      'name:string symbol:string uri:string',
    ],
    update_token_metadata_field: ['dde9312db5cadcc8', CHANGED, 'field:<Name,Symbol,Uri,Key(string)> value:string'],
    remove_token_metadata_key: ['ea122038598d25b5', CHANGED, 'idempotent:bool key:string'],
    /** 1111…, which is 32 zeros, is nobody. */
    update_token_metadata_authority: ['d7e4a6e45464567b', CHANGED, 'new_authority:pubkey'],
  },
})

/** The start of the metadata in a mint, and the additional fields behind it. */
export const METADATA_HEAD = fieldType('{update_authority:pubkey,mint:pubkey,name:string,symbol:string,uri:string}')
export const METADATA_FIELDS = fieldType('*{key:string,value:string}')

/** Reads the start of the metadata in a mint. Throws ShortData or TypeError as a field's type does. */
export function readMetadataHead(reader: ByteReader) {
  const { update_authority, name, symbol, uri } = METADATA_HEAD.read(reader) as Record<
    'update_authority' | 'name' | 'symbol' | 'uri',
    string
  >
  return {
    name: unpadded(name),
    symbol: unpadded(symbol),
    uri: unpadded(uri),
    updateAuthority: update_authority === SYSTEM_PROGRAM ? null : update_authority,
  }
}
