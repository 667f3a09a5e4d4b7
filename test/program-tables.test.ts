/** The rows of programs' tables are those of their IDLs, as far as the frameworks and SDKs say them. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { JUPITER_LOCK } from '../src/solana/programs/jupiter-lock.ts'
import { MERKLE_DISTRIBUTOR } from '../src/solana/programs/merkle-distributor.ts'
import { METAPLEX_CORE } from '../src/solana/programs/metaplex-core.ts'
import { TOKEN_METADATA_INTERFACE } from '../src/solana/programs/token-metadata-interface.ts'

const prefixOf = (name: string) => createHash('sha256').update(name).digest('hex').slice(0, 16)

it('first bytes of Anchor instructions are the hash of their names', () => {
  for (const { layout } of [JUPITER_LOCK, MERKLE_DISTRIBUTOR]) {
    for (const [prefix, [name]] of Object.entries(layout.table)) expect(prefix, name).toBe(prefixOf(`global:${name}`))
  }
})

it('first bytes of the metadata in a mint are the hashes of the interface', () => {
  const names = ['initialize_account', 'updating_field', 'remove_key_ix', 'update_the_authority']
  const prefixes = names.map((name) => prefixOf(`spl_token_metadata_interface:${name}`))
  expect(Object.keys(TOKEN_METADATA_INTERFACE.layout.table)).toEqual(prefixes)
})

const CORE_SDK = resolve('node_modules/@metaplex-foundation/mpl-core/dist/src/generated/instructions')
const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const camel = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** First bytes, and accounts with their flags, as the generated client of the SDK has them. */
function inCoreSdk(name: string) {
  const [code, types] = ['js', 'd.ts'].map((end) => readFileSync(`${CORE_SDK}/${camel(name)}.${end}`, 'utf8'))
  const fallbacks = [...code!.matchAll(/if \(!resolvedAccounts\.(\w+)\.value\)/g)].map(([, account]) => account)
  const accounts = [...code!.matchAll(/(\w+): \{\s+index: \d+,\s+isWritable: (\w+),/g)].map(
    ([, account, isWritable]) => {
      const [, optional, type = ''] = new RegExp(`\\b${account}(\\??): (.*);`).exec(types!) ?? []
      const flags = [
        type.includes('Signer') ? 's' : '',
        isWritable === 'true' ? 'w' : '',
        optional === '?' && !fallbacks.includes(account) ? 'o' : '',
      ].join('')
      return flags === '' ? snake(account!) : `${snake(account!)}:${flags}`
    },
  )
  const prefix = Number(/discriminator: (\d+)/.exec(code!)?.[1])
    .toString(16)
    .padStart(2, '0')
  return { prefix, accounts }
}

it('instructions of Metaplex Core have the accounts of its SDK, in their order and with their flags', () => {
  const rows = Object.entries(METAPLEX_CORE.layout.table)
  expect(rows.length).toBeGreaterThan(20)
  for (const [prefix, [name, roles]] of rows) {
    const accounts = roles.split(' ').map((word) => {
      const [role, flags = ''] = word.split(':')
      const sorted = [...'swo'].filter((flag) => flags.includes(flag)).join('')
      return sorted === '' ? role : `${role}:${sorted}`
    })
    expect({ prefix, accounts }, name).toEqual(inCoreSdk(name))
  }
})
