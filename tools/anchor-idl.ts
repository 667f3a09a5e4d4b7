/** Reads the IDL of Squads v4 from its SDK, which writes it as Anchor 0.29 does, and answers it as newer ones are. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** The part of an Anchor IDL that layouts are made of. */
export interface Idl {
  instructions: readonly {
    name: string
    discriminator: readonly number[]
    accounts: readonly { name: string }[]
    args: readonly Field[]
  }[]
  types: readonly { name: string; type: IdlType }[]
}
export interface IdlType {
  kind: string
  fields?: readonly unknown[]
  variants?: readonly { name: string; fields?: readonly unknown[] }[]
}
export interface Field {
  name: string
  type: unknown
}

interface OldAccount {
  name: string
  accounts?: readonly OldAccount[]
}
interface OldIdl {
  instructions: readonly { name: string; accounts: readonly OldAccount[]; args: readonly Field[] }[]
  types: readonly {
    name: string
    type: { kind: string; fields?: readonly Field[]; variants?: readonly { name: string; fields?: readonly Field[] }[] }
  }[]
  errors: readonly { code: number; name: string; msg: string }[]
}

export function squadsIdl(): Idl & Pick<OldIdl, 'errors'> {
  const main = createRequire(import.meta.url).resolve('@sqds/multisig')
  const idl = JSON.parse(readFileSync(join(dirname(main), '../idl/squads_multisig_program.json'), 'utf8')) as OldIdl
  return {
    instructions: idl.instructions.map(({ name, accounts, args }) => ({
      name: snake(name),
      discriminator: [
        ...createHash('sha256')
          .update(`global:${snake(name)}`)
          .digest()
          .subarray(0, 8),
      ],
      accounts: accounts.flatMap(leaves).map((account) => ({ name: snake(account.name) })),
      args: args.map(newField),
    })),
    types: idl.types.map(({ name, type }) => ({
      name,
      type: {
        ...type,
        ...(type.fields && { fields: type.fields.map(newField) }),
        ...(type.variants && {
          variants: type.variants.map(({ name, fields }) => ({ name, fields: fields?.map(newField) ?? [] })),
        }),
      },
    })),
    errors: idl.errors,
  }
}

/** A group of accounts stands in its place. */
const leaves = (account: OldAccount): OldAccount[] => account.accounts?.flatMap(leaves) ?? [account]

const newField = ({ name, type }: Field): Field => ({ name: snake(name), type: newType(type) })

function newType(type: unknown): unknown {
  if (type === 'publicKey') return 'pubkey'
  const { defined, option, vec } = (typeof type === 'object' && type !== null ? type : {}) as {
    defined?: string
    option?: unknown
    vec?: unknown
  }
  if (option !== undefined) return { option: newType(option) }
  if (vec !== undefined) return { vec: newType(vec) }
  return defined === undefined ? type : { defined: { name: defined } }
}

/** `multisigCreateV2` is `multisig_create_v2` in the program. */
const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
