/** Writes the example of an operation for curl, for the typed client and for svc. */
import type { Verb } from '../commands/cli/command.ts'
import { NOUNS } from '../commands/cli/nouns.ts'
import type { RequestExample } from '../src/api/openapi.ts'
import type { AnyRoute } from '../src/api/route.ts'
import { shellQuoted } from '../src/platform/shell-quoted.ts'

/** A request in one language, in the form that Redoc and others read as `x-codeSamples`. */
export interface CodeSample {
  lang: 'Shell' | 'TypeScript'
  label: 'curl' | 'TypeScript' | 'svc'
  source: string
}

/**
 * A part of the command's example that shows the operation, if the first example shows something else; null if no
 * command calls the operation alone.
 */
const EXAMPLES: Readonly<Record<string, RegExp | null>> = {
  'service.cluster': null,
  'holderSnapshots.piece': null,
  'pools.rehearse': /--rehearse/,
  'feeClaims.listByPool': /--pool/,
  'sponsorships.get': /sponsor \S+$/,
  'sponsorships.build': /--sponsor/,
  'sponsorships.submit': /--sponsor/,
  'merkleTrees.create': /--persist/,
  'merkleTrees.proof': /--id/,
  'tokenTransfers.create': /-k /,
}

export async function allVerbs(): Promise<Verb[]> {
  const nouns = await Promise.all(NOUNS.map(({ load }) => load()))
  return nouns.flatMap((noun) => ('verb' in noun ? [noun.verb] : Object.values(noun.verbs)))
}

/** `name` is the call of the client, such as `pools.create`. */
export function codeSamples(
  name: string,
  route: AnyRoute,
  example: RequestExample,
  verbs: readonly Verb[],
): CodeSample[] {
  const command = commandOf(name, route, verbs)
  return [
    { lang: 'Shell', label: 'curl', source: curlSample(route, example) },
    { lang: 'TypeScript', label: 'TypeScript', source: clientSample(name, route, example) },
    ...(command === undefined ? [] : [{ lang: 'Shell', label: 'svc', source: command } as const]),
  ]
}

/** An example of the verb that makes this request first, and the fewest others. */
function commandOf(name: string, { method, path }: AnyRoute, verbs: readonly Verb[]): string | undefined {
  const wanted = name in EXAMPLES ? EXAMPLES[name] : /^/
  const place = ({ calls }: Verb) =>
    calls.findIndex(([calledMethod, calledPath]) => calledMethod === method && calledPath === path)
  const callers = verbs
    .filter((verb) => place(verb) >= 0)
    .sort((a, b) => place(a) - place(b) || a.calls.length - b.calls.length)
  if (callers.length === 0 || wanted == null) return undefined
  const found = callers.flatMap(({ examples }) => examples).find((line) => wanted.test(line))
  if (found === undefined) throw new Error(`the command of ${name} has no example with ${wanted}`)
  return found
}

function curlSample({ method, path, public: open }: AnyRoute, example: RequestExample): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(String(example.path[key])))
  const query = new URLSearchParams(texts(example.query))
  const parts = [
    `curl${method === 'get' || method === 'post' ? '' : ` -X ${method.toUpperCase()}`} "$SVC_API${filled}${query.size > 0 ? `?${query}` : ''}"`,
    ...(open ? [] : ['-H "Authorization: Bearer $SVC_API_KEY"']),
    ...(example.body === undefined
      ? []
      : [
          '-H "Content-Type: application/json"',
          '-H "Idempotency-Key: $(uuidgen)"',
          `-d ${shellQuoted(compactJson(example.body))}`,
        ]),
  ]
  return parts.join(' \\\n  ')
}

/** One line if it is short, otherwise a line for each field. */
function compactJson(value: object): string {
  const text = JSON.stringify(value)
  return text.length <= 60 ? text : JSON.stringify(value, null, 2)
}

/** Parameters of path and query are texts. */
const texts = (values: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, String(value)]))

function clientSample(name: string, { method, list }: AnyRoute, { path, query, body }: RequestExample): string {
  const input = { ...texts(path), ...texts(query), ...body }
  const given = [
    ...(Object.keys(input).length > 0 || method !== 'get' ? [literal(input)] : []),
    ...(method === 'get' ? [] : ['{ idempotencyKey: crypto.randomUUID() }']),
  ]
  return [
    "import { createClient, fetchTransport } from '@svc-launch/client'",
    '',
    "const client = createClient(fetchTransport('http://127.0.0.1:8787'), process.env.SVC_API_KEY)",
    `const { data${list ? ', meta' : ''} } = await client.${name}(${given.join(', ')})`,
  ].join('\n')
}

/** The value as TypeScript, on one line if it is short. */
function literal(value: unknown, indent = ''): string {
  if (typeof value === 'string') return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const deeper = `${indent}  `
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  const parts = (below: string) =>
    Array.isArray(value)
      ? value.map((item) => literal(item, below))
      : Object.entries(value).map(([key, item]) => `${key}: ${literal(item, below)}`)
  if (parts('').length === 0) return `${open}${close}`
  const [space, flat] = [open === '{' ? ' ' : '', parts(indent).join(', ')]
  if (flat.length <= 60 && !flat.includes('\n')) return `${open}${space}${flat}${space}${close}`
  return `${open}\n${parts(deeper)
    .map((part) => `${deeper}${part},\n`)
    .join('')}${indent}${close}`
}
