/**
 * Generates the layouts of programs' instructions from their SDKs, as source files that are checked with the generated
 * documents.
 */
import { argsText, type Idl } from './anchor-idl.ts'

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
  }
}

function source(table: string, owner: string, idl: Idl): string {
  const rows = idl.instructions.map((instruction) => {
    const accounts = instruction.accounts.map((account) => account.name).join(' ')
    const key = Buffer.from(instruction.discriminator).toString('hex')
    const name = /^[a-f]\w*$/.test(key) ? key : `'${key}'`
    const cells = [instruction.name, accounts, argsText(idl, instruction.args)].map((text) => `'${text}'`)
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
