/**
 * Generates the layouts of programs' instructions from their SDKs, as source files that are checked with the generated
 * documents.
 */
import { type Field, type Idl, squadsIdl } from './anchor-idl.ts'

const FOLDER = 'src/chain/instructions/generated'
/** The width of a line of source, as in the formatter's settings. */
const LINE_WIDTH = 120
const PLAIN = new Set(['u8', 'u16', 'u32', 'u64', 'u128', 'i64', 'bool', 'string', 'pubkey'])

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
    const args = plainArgs(idl, instruction.args).map(([arg, type]) => `${arg}:${type}`)
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

/** The arguments up to the first that is not a plain value; the fields of a struct count as arguments. */
const plainArgs = (idl: Idl, fields: readonly Field[]): [string, string][] => readPlain(idl, fields).args

/** `isWhole` is false if a field that is not a plain value ends the list. */
function readPlain(idl: Idl, fields: readonly Field[]): { args: [string, string][]; isWhole: boolean } {
  const args: [string, string][] = []
  for (const { name, type } of fields) {
    if (typeof type === 'string' && PLAIN.has(type)) {
      args.push([name, type])
      continue
    }
    const nested = fieldsOf(idl, type)
    if (nested === null) return { args, isWhole: false }
    const inner = readPlain(idl, nested)
    args.push(...inner.args)
    if (!inner.isWhole) return { args, isWhole: false }
  }
  return { args, isWhole: true }
}

function fieldsOf(idl: Idl, type: unknown): readonly Field[] | null {
  const { defined } = (typeof type === 'object' && type !== null ? type : {}) as { defined?: { name: string } }
  const found = idl.types.find(({ name }) => name === defined?.name)
  if (found?.type.kind !== 'struct') return null
  const fields = found.type.fields ?? []
  return fields.every((field) => typeof field === 'object' && field !== null && 'name' in field)
    ? (fields as Field[])
    : null
}
