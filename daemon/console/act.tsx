/** What an operator may do here: each act is one call of the API, and shows the command and the request for it. */
import { randomBytes } from 'node:crypto'
import { api } from '../../src/api/index.ts'
import type { AnyRoute } from '../../src/api/route.ts'
import type { CallOptions, Client } from '../../src/client.ts'
import { badRequest, notFound } from '../../src/platform/errors.ts'
import { DAY_MS, isoTime } from '../../src/platform/timing.ts'
import { type Fields, type Same, sameAs } from './same.ts'
import { Copyable } from './values.tsx'
import { linkTo, type View } from './view.ts'

interface ActDefinition {
  /** Noun and verb of the client. */
  call: readonly [noun: string, verb: string]
  /** What the button says. */
  label: string
  /** What the page says afterwards. */
  done: string
  /** Fields that the operator fills in. */
  asks?: readonly { name: string; label: string; value?(now: number): string }[]
}

/** The acts, a closed list. None of them signs. */
export const ACTS = {
  snooze: {
    call: ['attention', 'snooze'],
    label: 'Snooze',
    done: 'It is left out of the list until then.',
    asks: [
      { name: 'until', label: 'Until', value: (now) => `${isoTime(now + DAY_MS).slice(0, 19)}Z` },
      { name: 'reason', label: 'Why it can wait' },
    ],
  },
  'deliver-again': {
    call: ['webhookSubscriptions', 'replay'],
    label: 'Deliver again',
    done: 'The event is queued, and is delivered again at once.',
  },
  retry: {
    call: ['webhookSubscriptions', 'replay'],
    label: 'Retry all since it fails',
    done: 'All events since then are queued, and are delivered again.',
  },
  'switch-on': {
    call: ['webhookSubscriptions', 'update'],
    label: 'Switch on',
    done: 'The subscription is switched on.',
  },
  'pause-schedule': {
    call: ['feeSchedules', 'update'],
    label: 'Pause',
    done: 'The schedule is paused.',
  },
  'end-session': {
    call: ['consoleSessions', 'end'],
    label: 'End',
    done: 'The session has ended.',
  },
} as const satisfies Record<string, ActDefinition>

type ActName = keyof typeof ACTS

/** Returns the act with this name; throws not_found for any other text. */
export function actNamed(name: string): ActDefinition {
  if (!Object.hasOwn(ACTS, name)) throw notFound('The console has no such act')
  return ACTS[name as ActName]
}

/** What a page says after an act; undefined for any other text in its address. */
export const doneText = (name = ''): string | undefined =>
  Object.hasOwn(ACTS, name) ? ACTS[name as ActName].done : undefined

const routeOf = ({ call: [noun, verb] }: ActDefinition): AnyRoute =>
  (api as unknown as Record<string, Record<string, AnyRoute>>)[noun]?.[verb] as AnyRoute

type Calls = Record<string, Record<string, (input: object, options: CallOptions) => Promise<unknown>>>

/** Carries out an act from the fields of its form. A form that is sent twice does the act once. */
export async function perform(client: Client, act: ActDefinition, form: URLSearchParams): Promise<void> {
  const [noun, verb] = act.call
  const asked = (act.asks ?? []).map(({ name }) => [name, form.get(name) ?? ''] as const)
  const input = { ...inputIn(form), ...Object.fromEntries(asked) }
  await (client as unknown as Calls)[noun]?.[verb]?.(input, { idempotencyKey: `console-${form.get('once') ?? ''}` })
}

function inputIn(form: URLSearchParams): object {
  try {
    const input: unknown = JSON.parse(form.get('input') ?? '')
    if (typeof input === 'object' && input !== null && !Array.isArray(input)) return input
  } catch {}
  throw badRequest('This form is damaged: open its page again')
}

/** A form with the button of an act, for operators; everybody sees the command and the request. */
export function Act({ view, act: name, input }: { view: View; act: ActName; input: Fields }) {
  const act: ActDefinition = ACTS[name]
  const { query, path } = view
  const from = query.size > 0 ? `${path}?${query}` : path
  const form = (
    <form method="post" action={linkTo(`/console/acts/${name}`)}>
      <input type="hidden" name="csrf" value={view.csrf} />
      <input type="hidden" name="once" value={randomBytes(12).toString('hex')} />
      <input type="hidden" name="from" value={from} />
      <input type="hidden" name="input" value={JSON.stringify(input)} />
      {act.asks?.map(({ name: field, label, value }) => (
        <label>
          {label}
          <input name={field} value={value?.(view.now) ?? ''} required />
        </label>
      ))}
      <button type="submit">{act.label}</button>
    </form>
  )
  const isAsking = act.asks !== undefined
  return (
    <div class="act">
      {view.isOperator && !isAsking && form}
      {view.isOperator && isAsking && (
        <details>
          <summary>{act.label}</summary>
          {form}
        </details>
      )}
      <SameDetails same={sameAs(view, routeOf(act), input)} />
    </div>
  )
}

/** An act that signs. */
export interface SignedAct {
  route: AnyRoute
  input: Fields
  /** What the request has, if the command finds a part of it by itself. */
  body?: Fields
}

/** The command of an act that signs, which the console only shows. */
export const CommandOf = ({ view, route, input, body }: SignedAct & { view: View }) => (
  <SameDetails same={sameAs(view, route, input, body)} isOpen />
)

export const CommandsOf = ({ view, acts }: { view: View; acts: readonly SignedAct[] }) =>
  acts.length > 0 && (
    <>
      <h2>What can be done</h2>
      <p>The console never signs. These commands ask for the key that does.</p>
      {acts.map((act) => (
        <div class="act">
          {act.route.summary}
          <CommandOf view={view} {...act} />
        </div>
      ))}
    </>
  )

export const SameDetails = ({ same, isOpen = false }: { same: Same; isOpen?: boolean }) => (
  <details class="same" open={isOpen}>
    <summary>Command and request</summary>
    {same.command !== null && <Copyable text={same.command} />}
    <Copyable text={same.request} />
  </details>
)
