/**
 * Anchor IDLs as the rows of a program's table; the IDL of Squads v4, which its SDK writes as Anchor 0.29 does, as newer
 * ones are; and that of Meteora Presale.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { fieldType } from '../src/solana/programs/field-types.ts'

/** The part of an Anchor IDL that layouts are made of. */
export interface Idl {
  instructions: readonly {
    name: string
    discriminator: readonly number[]
    accounts: readonly { name: string; writable?: boolean; signer?: boolean; optional?: boolean }[]
    args: readonly Field[]
  }[]
  accounts: readonly Named[]
  events?: readonly Named[]
  types: readonly { name: string; type: IdlType }[]
}
interface Named {
  name: string
  discriminator: readonly number[]
}
interface IdlType {
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
  isMut: boolean
  isSigner: boolean
  isOptional?: boolean
  accounts?: readonly OldAccount[]
}
interface OldType {
  name: string
  type: { kind: string; fields?: readonly Field[]; variants?: readonly { name: string; fields?: readonly Field[] }[] }
}
interface OldIdl {
  instructions: readonly { name: string; accounts: readonly OldAccount[]; args: readonly Field[] }[]
  accounts: readonly OldType[]
  types: readonly OldType[]
  errors: readonly { code: number; name: string; msg: string }[]
}

export function squadsIdl(): Idl & Pick<OldIdl, 'errors'> {
  const main = createRequire(import.meta.url).resolve('@sqds/multisig')
  const idl = JSON.parse(readFileSync(join(dirname(main), '../idl/squads_multisig_program.json'), 'utf8')) as OldIdl
  return {
    instructions: idl.instructions.map(({ name, accounts, args }) => ({
      name: snake(name),
      discriminator: discriminatorOf(`global:${snake(name)}`),
      accounts: accounts.flatMap(leaves).map((account, place, all) => ({
        // The only name that is there twice is `creator`, of the transaction and of the buffer that it comes from.
        name: `${all.findIndex(({ name }) => name === account.name) < place ? 'buffer_' : ''}${snake(account.name)}`,
        writable: account.isMut,
        signer: account.isSigner,
        optional: account.isOptional ?? false,
      })),
      args: args.map(newField),
    })),
    accounts: idl.accounts.map(({ name }) => ({ name, discriminator: discriminatorOf(`account:${name}`) })),
    types: [...idl.types, ...idl.accounts].map(({ name, type }) => ({
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

/** The SDK of Meteora Presale does not export its IDL, which stands as one literal in its bundle. */
export function presaleIdl(): Idl & Pick<OldIdl, 'errors'> {
  const bundle = readFileSync(createRequire(import.meta.url).resolve('@meteora-ag/presale'), 'utf8')
  const from = bundle.indexOf('var presale_default = ')
  const literal = bundle.slice(bundle.indexOf('{', from), bundle.indexOf('\n};', from) + 2)
  return runInNewContext(`(${literal})`, { address: null })
}

const discriminatorOf = (name: string) => [...createHash('sha256').update(name).digest().subarray(0, 8)]

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
const snake = (name: string) => name.replace(/(?<!^)[A-Z]/g, '_$&').toLowerCase()

const hex = (bytes: readonly number[]) => Buffer.from(bytes).toString('hex')

/** The rows of instructions by their names, as a program's table has them. */
export const instructionRows = (idl: Idl) =>
  Object.fromEntries(
    idl.instructions.map(({ name, discriminator, accounts, args }) => [
      name,
      [hex(discriminator), accounts.map(roleText).join(' '), argsText(idl, args)] as const,
    ]),
  )

function roleText({ name, writable, signer, optional }: Idl['instructions'][number]['accounts'][number]): string {
  const flags = `${signer ? 's' : ''}${writable ? 'w' : ''}${optional ? 'o' : ''}`
  return flags === '' ? name : `${name}:${flags}`
}

/** The rows of accounts by their names: first bytes and fields. */
export const accountRows = (idl: Idl) =>
  Object.fromEntries(
    idl.accounts.map(({ name, discriminator }) => {
      const fields = named(definedIn(idl, { defined: { name } })?.fields) ?? []
      const text = fields.map((field) => `${field.name}:${typeText(idl, field.type)}`).join(' ')
      return [snake(name), [hex(discriminator), text] as const]
    }),
  )

/** The rows of accounts and events by their names, as `accountRows`, but the fields of a struct count as their own. */
export const flatRows = (idl: Idl) =>
  Object.fromEntries(
    [...idl.accounts, ...(idl.events ?? [])].map(({ name, discriminator }) => [
      snake(name),
      [hex(discriminator), argsText(idl, [{ name, type: { defined: { name } } }])] as const,
    ]),
  )

/** Arguments as tables have them. A name that several structs have follows the name of its own. */
function argsText(idl: Idl, args: readonly Field[]): string {
  const flat = args.flatMap((arg) => flatFields(idl, arg))
  const isOne = (name: string) => flat.filter((each) => each.name === name).length === 1
  return flat
    .map(({ name, type, of }) => `${of === '' || isOne(name) ? name : `${of}_${name}`}:${typeText(idl, type)}`)
    .join(' ')
}

/** The fields of a struct count as arguments; `of` is the name of the struct within the argument, if any. */
function flatFields(idl: Idl, field: Field, of = '', depth = 0): (Field & { of: string })[] {
  const found = definedIn(idl, field.type)
  const nested = found?.kind === 'struct' ? named(found.fields) : null
  if (nested === null) return [{ ...field, of }]
  return nested.flatMap((each) => flatFields(idl, each, depth === 0 ? '' : field.name, depth + 1))
}

function definedIn(idl: Idl, type: unknown): IdlType | undefined {
  const { defined } = (typeof type === 'object' && type !== null ? type : {}) as { defined?: { name: string } }
  return defined && idl.types.find(({ name }) => name === defined.name)?.type
}

/** The type as tables write it (`field-types.ts`). Throws for one that they cannot write. */
function typeText(idl: Idl, type: unknown): string {
  if (typeof type === 'string') return type
  const { option, vec, array } = type as { option?: unknown; vec?: unknown; array?: [unknown, number] }
  if (option !== undefined) return `?${typeText(idl, option)}`
  if (vec !== undefined) return `*${typeText(idl, vec)}`
  if (array !== undefined) return `hex${(fieldType(typeText(idl, array[0])).size ?? Number.NaN) * array[1]}`
  const found = definedIn(idl, type)
  if (found?.kind === 'struct') return fieldsText(idl, found.fields)
  if (found?.kind !== 'enum') throw new Error(`layouts have no type for ${JSON.stringify(type)}`)
  return `<${found.variants?.map(({ name, fields = [] }) => (fields.length === 0 ? name : `${name}${fieldsText(idl, fields)}`))}>`
}

function fieldsText(idl: Idl, fields: readonly unknown[] = []): string {
  const all = named(fields)
  if (all === null) return `(${fields.map((type) => typeText(idl, type))})`
  return `{${all.map(({ name, type }) => `${name}:${typeText(idl, type)}`)}}`
}

/** Null for the fields of a tuple. */
const named = (fields: readonly unknown[] = []): readonly Field[] | null =>
  fields.every((field) => typeof field === 'object' && field !== null && 'name' in field) ? (fields as Field[]) : null
