/** The command and the request that do the same as a page or an act: from the tree of commands and the routes. */
import type { AnyRoute } from '../../src/api/route.ts'
import { shellQuoted } from '../../src/platform/shell-quoted.ts'
import { readBuilt } from '../routes/built-files.ts'

/** A command of `svc help --json`, as far as it is read here. */
interface Command {
  command: string
  arguments: readonly { field: string; kind: string }[]
  options: readonly { field: string; flag: string; kind: string }[]
  calls: readonly string[]
}
/** The command for each route, such as `GET /v2/webhook-subscriptions`. */
export type CommandIndex = ReadonlyMap<string, Command>

/** Routes, some with their body, whose command does not follow from the tree; what is in the path comes after it. */
const SPELLED: Readonly<Record<string, string>> = {
  'GET /v2/console/sessions': 'svc console sessions',
  'DELETE /v2/console/sessions/{id}': 'svc console sessions end',
  'GET /v2/signer': 'svc signer status',
  'GET /v2/transactions/{signature}/content': 'svc tx get --content',
  'PATCH /v2/fee-schedules/{id} {"active":false}': 'svc fees schedule pause',
  'PATCH /v2/fee-schedules/{id} {"active":true}': 'svc fees schedule resume',
}

/** Reads the tree that the build wrote. Where a route has several commands, the one that calls nothing else counts. */
export async function readCommands(): Promise<CommandIndex> {
  const built = await readBuilt('help/commands.json')
  const tree = JSON.parse(built.toString('utf8')) as { commands: { verbs: Command[] }[] }
  const index = new Map<string, Command>()
  const verbs = tree.commands.flatMap((noun) => noun.verbs).sort((a, b) => a.calls.length - b.calls.length)
  for (const verb of verbs) for (const call of verb.calls) if (!index.has(call)) index.set(call, verb)
  return index
}

export type Fields = Readonly<Record<string, unknown>>

export interface Same {
  /** Null if no command does exactly this. */
  command: string | null
  request: string
}

/** `body` is what the request has if the command finds a part of it by itself. */
export function sameAs(
  view: { api: string; commands: CommandIndex },
  route: AnyRoute,
  input: Fields,
  body: Fields = input,
): Same {
  return {
    command: commandText(view.commands, route, givenIn(input)),
    request: requestText(view.api, route, givenIn(body)),
  }
}

const givenIn = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== ''))

const nameOf = ({ method, path }: AnyRoute) => `${method.toUpperCase()} ${path}`

function commandText(commands: CommandIndex, route: AnyRoute, input: Fields): string | null {
  const found = commands.get(nameOf(route))
  if (found === undefined) return null
  const inPath = Array.from(route.path.matchAll(/\{(\w+)\}/g), ([, field = '']) => field)
  const body = Object.fromEntries(Object.entries(input).filter(([field]) => !inPath.includes(field)))
  const whole = SPELLED[`${nameOf(route)} ${JSON.stringify(body)}`]
  const spelled = whole ?? SPELLED[nameOf(route)]
  const words = [spelled ?? found.command]
  const rest: Record<string, unknown> = { ...input }
  for (const field of spelled === undefined ? found.arguments.map((own) => own.field) : inPath) {
    if (rest[field] === undefined) continue
    words.push(shellQuoted(String(rest[field])))
    delete rest[field]
  }
  if (whole !== undefined) return words.join(' ')
  for (const [field, value] of Object.entries(rest)) {
    const option = found.options.find((own) => own.field === field)
    if (option === undefined) return null
    if (option.kind === 'boolean') words.push(...(value === true ? [option.flag] : []))
    else words.push(option.flag, shellQuoted(String(value)))
  }
  return words.join(' ')
}

function requestText(api: string, route: AnyRoute, input: Fields): string {
  const rest: Record<string, unknown> = { ...input }
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(rest[name])
    delete rest[name]
    return encodeURIComponent(value)
  })
  const head = 'curl -H "Authorization: Bearer $SVC_API_KEY"'
  if (route.method === 'get') {
    const query = new URLSearchParams(
      Object.entries(rest).map(([name, value]): [string, string] => [name, String(value)]),
    )
    return `${head} ${shellQuoted(`${api}${path}${query.size > 0 ? `?${query}` : ''}`)}`
  }
  const body = shellQuoted(JSON.stringify(rest))
  return `${head} -X ${route.method.toUpperCase()} -H 'Content-Type: application/json' -d ${body} ${shellQuoted(api + path)}`
}
