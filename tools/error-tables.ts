/**
 * Generates the error tables of programs from their SDKs, as source files that are checked with the generated
 * documents.
 */
import { createRequire } from 'node:module'
import { presaleIdl, squadsIdl } from './anchor-idl.ts'

interface IdlError {
  code: number
  name: string
  msg?: string
}

const FOLDER = 'src/chain/errors/generated'

/** The source text of each file, by its path. */
export async function errorTables(): Promise<Record<string, string>> {
  const { DynamicBondingCurveIdl } = await import('@meteora-ag/dynamic-bonding-curve-sdk')
  const { CpAmmIdl } = await import('@meteora-ag/cp-amm-sdk')
  return {
    [`${FOLDER}/anchor.ts`]: source(
      'ANCHOR_CODES',
      'the Anchor framework, which every program built on it can return',
      anchor(),
    ),
    [`${FOLDER}/dbc.ts`]: source('DBC_CODES', 'Meteora DBC', DynamicBondingCurveIdl.errors),
    [`${FOLDER}/damm-v2.ts`]: source('DAMM_V2_CODES', 'Meteora DAMM v2', CpAmmIdl.errors),
    [`${FOLDER}/presale.ts`]: source('PRESALE_CODES', 'Meteora Presale', presaleIdl().errors),
    [`${FOLDER}/core.ts`]: source('CORE_CODES', 'Metaplex Core', await core()),
    [`${FOLDER}/squads.ts`]: source('SQUADS_CODES', 'Squads v4', squadsIdl().errors),
  }
}

/** Reads the Anchor package that both Meteora SDKs use, which contains the framework's own table. */
function anchor(): IdlError[] {
  const { LangErrorCode, LangErrorMessage } = createRequire(import.meta.url)('@coral-xyz/anchor') as {
    LangErrorCode: Record<string, number>
    LangErrorMessage: Map<number, string>
  }
  return Object.entries(LangErrorCode).map(([name, code]) => ({ code, name, msg: LangErrorMessage.get(code) ?? name }))
}

/**
 * Reads Core's errors, whose codes count up from 0 without a gap. Only the first line of an error is the program's
 * message; the SDK adds others.
 */
async function core(): Promise<IdlError[]> {
  const { createMplCoreProgram, getMplCoreErrorFromCode } = await import('@metaplex-foundation/mpl-core')
  const program = createMplCoreProgram()
  const errors: IdlError[] = []
  for (let code = 0; ; code++) {
    const error = getMplCoreErrorFromCode(code, program)
    if (error === null) return errors
    errors.push({ code, name: error.name, msg: error.message.split('\n')[0] ?? error.name })
  }
}

function source(name: string, owner: string, errors: readonly IdlError[]): string {
  const quoted = (text: string) => `'${text.trim().replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const rows = errors.map(({ code, name, msg = name }) => `  ${code}: [${quoted(name)}, ${quoted(msg)}],`)
  return [
    `/** Error codes of ${owner}; generated from its SDK by \`npm run docs\`. */`,
    "import type { ErrorTable } from '../types.ts'",
    '',
    `export const ${name}: ErrorTable = {`,
    ...rows,
    '}',
    '',
  ].join('\n')
}
