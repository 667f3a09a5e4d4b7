/**
 * Generates the layouts of programs' instructions from their SDKs, as source files that are checked with the generated
 * documents.
 */
import { type Field, type Idl, type IdlType, squadsIdl } from './anchor-idl.ts'

const FOLDER = 'src/chain/instructions/generated'
/** The width of a line of source, as in the formatter's settings. */
const LINE_WIDTH = 120

/** The source text of each file, by its path. */
export async function instructionTables(): Promise<Record<string, string>> {
  const { DynamicBondingCurveIdl } = await import('@meteora-ag/dynamic-bonding-curve-sdk')
  const { CpAmmIdl } = await import('@meteora-ag/cp-amm-sdk')
  return {
    [`${FOLDER}/dbc.ts`]: source('DBC_INSTRUCTIONS', 'Meteora DBC', DynamicBondingCurveIdl as unknown as Idl),
    [`${FOLDER}/damm-v2.ts`]: source('DAMM_V2_INSTRUCTIONS', 'Meteora DAMM v2', CpAmmIdl as unknown as Idl),
    [`${FOLDER}/squads.ts`]: source('SQUADS_INSTRUCTIONS', 'Squads v4', squadsIdl()),
  }
}

function source(table: string, owner: string, idl: Idl): string {
  const rows = idl.instructions.map((instruction) => {
    const accounts = instruction.accounts.map((account) => account.name).join(' ')
    const args = flatArgs(idl, instruction.args).map(([arg, type]) => `${arg}:${type}`)
    const key = Buffer.from(instruction.discriminator).toString('hex')
    const name = /^[a-f]\w*$/.test(key) ? key : `'${key}'`
    const cells = [instruction.name, accounts, args.join(' ')].map((text) => `'${text}'`)
    const line = `  ${name}: [${cells.join(', ')}],`
    return line.length <= LINE_WIDTH ? line : `  ${name}: [\n${cells.map((cell) => `    ${cell},\n`).join('')}  ],`
  })
  return [
    `/** Instructions of ${owner}; generated from its SDK by \`npm run docs\`. */`,
    "import type { InstructionTable } from '../layout.ts'",
    '',
    `export const ${table}: InstructionTable = {`,
    ...rows,
    '}',
    '',
  ].join('\n')
}

/** The fields of a struct count as arguments. */
const flatArgs = (idl: Idl, fields: readonly Field[]): [name: string, type: string][] =>
  fields.flatMap(({ name, type }) => {
    const found = definedIn(idl, type)
    const nested = found?.kind === 'struct' ? named(found.fields) : null
    return nested === null ? [[name, typeText(idl, type)] as [string, string]] : flatArgs(idl, nested)
  })

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
  if (array?.[0] === 'u8') return `hex${array[1]}`
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
