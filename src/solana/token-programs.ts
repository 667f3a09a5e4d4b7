/** Addresses of the token and memo programs, and their names in jsonParsed encoding. */
import { MEMO_PROGRAM, MEMO_V1_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from './program-ids.ts'

export const MEMO_PROGRAMS: readonly string[] = [MEMO_PROGRAM, MEMO_V1_PROGRAM]

/** Name of a token program in jsonParsed accounts; undefined for any other program. */
export const TOKEN_PROGRAM_NAMES: Readonly<Record<string, string | undefined>> = {
  [TOKEN_PROGRAM]: 'spl-token',
  [TOKEN_2022_PROGRAM]: 'spl-token-2022',
}

/** Whether the address is that of SPL Token or of Token-2022. */
export const isTokenProgram = (address: string | undefined): boolean =>
  address === TOKEN_PROGRAM || address === TOKEN_2022_PROGRAM

/** The address of the token program that answers and accounts name so. */
export const tokenProgramOf = (name: 'spl' | 'token2022'): string =>
  name === 'spl' ? TOKEN_PROGRAM : TOKEN_2022_PROGRAM
