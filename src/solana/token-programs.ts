/** Programs that jsonParsed knows beside the chain's own. */
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from './addresses.ts'

export const MEMO_PROGRAMS = [
  'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
  'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo',
]

/** Name of a token program in jsonParsed accounts; undefined for any other program. */
export const TOKEN_PROGRAM_NAMES: Readonly<Record<string, string | undefined>> = {
  [TOKEN_PROGRAM]: 'spl-token',
  [TOKEN_2022_PROGRAM]: 'spl-token-2022',
}
