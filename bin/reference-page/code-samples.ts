/** Writes a request of an operation as a line of curl, as a call of the typed client, and as the command that makes it. */
import type { Verb } from '../../commands/cli/command.ts'
import { NOUNS } from '../../commands/cli/nouns.ts'
import { api } from '../../src/api/index.ts'
import type { AnyRoute } from '../../src/api/route.ts'
import { type Client, type ClientRequest, createClient } from '../../src/client.ts'
import type { CodeSample } from './document.ts'
import { REQUESTS } from './requests.ts'

/**
 * Commands where the first example of the first verb that makes the request shows something else; null where no command
 * makes it by itself.
 */
const COMMANDS: Readonly<Record<string, string | null>> = {
  'service.cluster': null,
  'pools.rehearse': 'svc pools create --name "My Token" --symbol MTK --image logo.png --buy 0.5 --rehearse',
  'feeClaims.listByPool': 'svc fees list --pool CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4',
  'airdrops.stats': 'svc airdrops status 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw',
  'sponsorships.get': 'svc airdrops sponsor 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw',
  'sponsorships.build': 'svc airdrops claim 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw --sponsor -k poor.json',
  'sponsorships.submit': 'svc airdrops claim 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw --sponsor -k poor.json',
  'merkleTrees.create': 'svc merkle build recipients.csv --mint 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --persist',
  'holderSnapshots.piece': null,
  'tokenTransfers.create':
    'svc airdrops send rewards.csv --mint 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --decimals 6 -k payer.json',
  'storage.delegate': null,
  'merkleTrees.proof':
    'svc merkle proof --id 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw --wallet 9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g',
}

/** The samples of every operation, by the method and path of the document: `get /v2/pools`. */
export async function codeSamples(): Promise<Map<string, CodeSample[]>> {
  const verbs = await allVerbs()
  const samples = new Map<string, CodeSample[]>()
  for (const [noun, routes] of Object.entries(api) as [keyof Client, Record<string, AnyRoute>][]) {
    for (const [verb, route] of Object.entries(routes)) {
      const input = (REQUESTS[noun] as Record<string, object>)[verb] ?? {}
      const name = `${noun}.${verb}`
      const command = name in COMMANDS ? COMMANDS[name] : commandOf(route, verbs)
      const requests: CodeSample[] = [
        { label: 'curl', source: curlSample(await requestOf(noun, verb, input), route) },
        { label: 'TypeScript', source: clientSample(name, input, route) },
      ]
      if (command != null) requests.push({ label: 'svc', source: command })
      samples.set(`${route.method} ${route.path}`, requests)
    }
  }
  return samples
}

async function allVerbs(): Promise<Verb[]> {
  const nouns = await Promise.all(NOUNS.map(({ load }) => load()))
  return nouns.flatMap((noun) => ('verb' in noun ? [noun.verb] : Object.values(noun.verbs)))
}

/** The first example of the verb that makes this request before others, and makes the fewest others. */
function commandOf({ method, path }: AnyRoute, verbs: readonly Verb[]): string | undefined {
  const place = ({ calls }: Verb) =>
    calls.findIndex(([calledMethod, calledPath]) => calledMethod === method && calledPath === path)
  const [best] = verbs
    .filter((verb) => place(verb) >= 0)
    .sort((a, b) => place(a) - place(b) || a.calls.length - b.calls.length)
  return best?.examples[0]
}

/** What the client sends for the input. */
async function requestOf(noun: keyof Client, verb: string, input: object): Promise<ClientRequest> {
  let sent: ClientRequest | undefined
  const client = createClient(async (request) => {
    sent = request
    return { status: 200, headers: {}, body: '{"data":null,"meta":{"request_id":"req_1"}}' }
  })
  await (client[noun] as unknown as Record<string, (input: object) => Promise<unknown>>)[verb]?.(input)
  if (sent === undefined) throw new Error(`the client has no ${noun}.${verb}`)
  return sent
}

function curlSample({ method, path, body }: ClientRequest, { public: open }: AnyRoute): string {
  const isWrite = body !== undefined
  const parts = [
    `curl${method === 'GET' || method === 'POST' ? '' : ` -X ${method}`} "$SVC_API${path}"`,
    ...(open ? [] : ['-H "Authorization: Bearer $SVC_API_KEY"']),
    ...(isWrite ? ['-H "Content-Type: application/json"', '-H "Idempotency-Key: $(uuidgen)"'] : []),
    ...(isWrite ? [`-d ${shellQuoted(compactJson(String(body)))}`] : []),
  ]
  return parts.join(' \\\n  ')
}

/** One line where it is short, else a line for each field. */
function compactJson(text: string): string {
  const value: unknown = JSON.parse(text)
  return text.length <= 60 ? text : JSON.stringify(value, null, 2)
}

const shellQuoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

function clientSample(name: string, input: object, { method, list }: AnyRoute): string {
  const given = [
    ...(Object.keys(input).length > 0 || method !== 'get' ? [literal(input)] : []),
    ...(method === 'get' ? [] : ['{ idempotencyKey: crypto.randomUUID() }']),
  ]
  return [
    "import { createClient, fetchTransport } from '@svc-launch/cli/client'",
    '',
    "const client = createClient(fetchTransport('http://127.0.0.1:8787'), process.env.SVC_API_KEY)",
    `const { data${list ? ', meta' : ''} } = await client.${name}(${given.join(', ')})`,
  ].join('\n')
}

/** The value as TypeScript, on one line where it is short. */
function literal(value: unknown, indent = ''): string {
  if (typeof value === 'string')
    return `'${JSON.stringify(value).slice(1, -1).replaceAll("'", "\\'").replaceAll('\\"', '"')}'`
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
