/** Checks a value by the schema of its API field, so that a question can say at once what is wrong. */
import type { AnyRoute } from '../../src/api/route.ts'
import { LAMPORT_DECIMALS, rawUnits } from './amounts.ts'
import type { CommandInput, Verb } from './command.ts'

/** Names of values that the command converts before it sends them. */
const CONVERTED = new Set(['FILE', 'DIR', 'SOL', 'TOKENS', 'AMOUNT'])
/** Those that are amounts, with the most fractional digits: whole tokens have those of a mint that is not known yet. */
const AMOUNTS: Readonly<Record<string, number>> = { SOL: LAMPORT_DECIMALS, TOKENS: 255, AMOUNT: 255 }

/** Returns what the API would object to; undefined if it accepts the value, or if no field has it unchanged. */
export type FieldCheck = (key: string, input: CommandInput, value: unknown) => string | undefined

/** Whether the value is read from another place: `@` with a file's name, or standard input. */
const isFromFile = (value: unknown) => typeof value === 'string' && (value === '-' || value.startsWith('@'))

/** Loads the schemas of the API; only commands that ask questions load them. */
export async function openFieldChecks({ calls }: Verb): Promise<FieldCheck> {
  const [{ z }, { api }, { validateInput }] = await Promise.all([
    import('@hono/zod-openapi'),
    import('../../src/api/index.ts'),
    import('../../src/api/input-validation.ts'),
  ])
  const routes: AnyRoute[] = Object.values(api)
    .flatMap((resource): AnyRoute[] => Object.values(resource))
    .filter((route) => calls.some(([method, path]) => method === route.method && path === route.path))
  return (key, input, value) => {
    const name = input.field ?? key
    if (input.kind === 'text' && AMOUNTS[input.placeholder] !== undefined) return amountFault(input, String(value))
    if (value === 'none' && input.about.includes('none')) return undefined
    if (input.kind === 'list' || CONVERTED.has(input.placeholder) || isFromFile(value)) return undefined
    const shape = routes
      .flatMap(({ params, body, query }) => [params, body, query])
      .find((fields) => fields !== undefined && Object.hasOwn(fields.shape, name))
    if (shape === undefined) return undefined
    try {
      validateInput(z.object({ [name]: shape.shape[name] }), { [name]: value })
      return undefined
    } catch (error) {
      return (error as Error).message.slice(`${name}: `.length)
    }
  }
}

function amountFault({ placeholder, about }: CommandInput, text: string): string | undefined {
  if (text === 'all' && about.includes('all')) return undefined
  const digits = about.includes('whole tokens') ? AMOUNTS.TOKENS : AMOUNTS[placeholder]
  try {
    rawUnits(text, digits ?? 0, 'it')
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}
