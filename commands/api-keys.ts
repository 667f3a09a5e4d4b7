/** `svc keys`: API keys with their scopes and limits, their expiry, their addresses and their rotations. */

import { paths } from '../src/api/paths.ts'
import type { Scope } from '../src/api/route.ts'
import { HOUR_MS, SECOND_MS } from '../src/platform/timing.ts'
import { integer, listOf, type Noun, required, text, verb } from './cli/command.ts'
import { listVerb } from './cli/reads.ts'
import type { SessionClock } from './cli/session.ts'
import { requireMomentFrom, spanOf } from './cli/typed-times.ts'
import { usage } from './ui/problem.ts'
import { timeText } from './ui/times.ts'

const EXAMPLE = 'key_7vQ2mXr9LdT4sYb1WnGe6KpA'
const ONCE = 'The key is shown only once; keep it in a file that only you can read (chmod 600).'
const id = required(text('Id of the key', { placeholder: 'ID' }))
const allowIp = listOf('Address or range from which it may be used; repeatable', {
  placeholder: 'CIDR',
  field: 'allow_ips',
})

/** Seconds from now until the key expires. */
function expiresIn(typed: string, { now }: SessionClock): number {
  const seconds = BigInt(Math.floor(now() / SECOND_MS))
  return Number(requireMomentFrom(typed, '--expires', seconds) - seconds)
}

function overlapHours(typed: string): number {
  const seconds = typed === '0' ? 0n : spanOf(typed)
  const hour = BigInt(HOUR_MS / SECOND_MS)
  if (seconds !== null && seconds % hour === 0n) return Number(seconds / hour)
  throw usage(`--overlap must be whole hours, such as 24h or 2d, not "${typed}"`, { param: '--overlap' })
}

export const apiKeysNoun: Noun = {
  aliases: { revoke: 'delete' },
  verbs: {
    create: verb({
      about: 'Make a key; it is printed only once',
      details:
        'Scopes: * (all), fees:claim, airdrop:admin, airdrop:write, storage:delegate. Without a scope, a key reads everything except keys, signer and audit log (/metrics has the balance and spend of the platform wallet). It builds unsigned transactions, verifies pools, and simulates and submits signed transactions. The platform wallet co-signs its mints and releases if they cost the wallet nothing. It makes webhook subscriptions, and changes only its own.',
      calls: [paths.apiKeys.create],
      flags: {
        name: required(text('Name of the key')),
        scopes: listOf<Scope>('Scopes of the key', { placeholder: 'SCOPE,…' }),
        per_minute: integer('Requests a minute', { min: 1 }),
        per_day: integer('Requests a day', { min: 1 }),
        expires: text('When it expires: a span such as 90d, or a time', { placeholder: 'SPAN', field: 'expires_in' }),
        allow_ip: allowIp,
      },
      examples: [
        'svc keys create --name backend --scopes airdrop:write --per-minute 600',
        'svc keys create --name claims-bot --scopes fees:claim,airdrop:admin --json',
        'svc keys create --name deploy --scopes airdrop:write --expires 90d --allow-ip 203.0.113.0/24',
      ],
      async run({ name, scopes, per_minute, per_day, expires, allow_ip }, { client, clock }) {
        const { data } = await client.apiKeys.create({
          name,
          ...(scopes === undefined ? {} : { scopes }),
          ...(per_minute === undefined ? {} : { rate_limit_per_minute: per_minute }),
          ...(per_day === undefined ? {} : { rate_limit_per_day: per_day }),
          ...(expires === undefined ? {} : { expires_in: expiresIn(expires, clock) }),
          ...(allow_ip === undefined ? {} : { allow_ips: allow_ip }),
        })
        return { data, notes: [ONCE] }
      },
    }),
    list: listVerb({
      about: 'List keys, newest first',
      at: paths.apiKeys.list,
      examples: ['svc keys list', 'svc keys list --all -o json'],
      columns: [
        'id',
        'name',
        'preview',
        'scopes',
        'rate_limit_per_minute',
        'rate_limit_per_day',
        'status',
        'created_at',
        'expires_at',
        'allow_ips',
        'last_used_at',
        'last_used_from',
      ],
      call: (client, query) => client.apiKeys.list(query),
    }),
    update: verb({
      about: 'Change when a key expires, or from where it may be used',
      calls: [paths.apiKeys.update],
      args: { id },
      flags: {
        expires: text('When it expires: a span from now such as 90d, a time, or never', {
          placeholder: 'SPAN',
          field: 'expires_in',
        }),
        allow_ip: { ...allowIp, about: 'Address or range from which it may be used; repeatable, or any' },
      },
      needs: [['expires', 'allow_ip']],
      examples: [
        `svc keys update ${EXAMPLE} --expires 90d`,
        `svc keys update ${EXAMPLE} --allow-ip 203.0.113.0/24,2001:db8::/32`,
        `svc keys update ${EXAMPLE} --expires never --allow-ip any`,
      ],
      async run({ id, expires, allow_ip }, { client, clock }) {
        const allow_ips = allow_ip?.join() === 'any' ? [] : allow_ip
        const { data } = await client.apiKeys.update({
          id,
          ...(expires === undefined ? {} : { expires_in: expires === 'never' ? null : expiresIn(expires, clock) }),
          ...(allow_ips === undefined ? {} : { allow_ips }),
        })
        return { data }
      },
    }),
    rotate: verb({
      about: 'Give a key a new text; the old one works until the overlap ends',
      details:
        'Id, scopes, limits, webhook subscriptions and Idempotency-Keys stay. With --overlap 0h every earlier text is refused at once: use this after a leak.',
      calls: [paths.apiKeys.rotate],
      args: { id },
      flags: {
        overlap: text('How long the old text still works, in whole hours, up to 168h (default 24h)', {
          placeholder: 'SPAN',
          field: 'overlap_hours',
        }),
      },
      examples: [`svc keys rotate ${EXAMPLE}`, `svc keys rotate ${EXAMPLE} --overlap 24h`],
      async run({ id, overlap }, { client }) {
        const overlap_hours = overlap === undefined ? undefined : overlapHours(overlap)
        const { data } = await client.apiKeys.rotate({ id, ...(overlap_hours === undefined ? {} : { overlap_hours }) })
        const { previous_key_expires_at: until } = data
        const old =
          until === null || overlap_hours === 0
            ? 'The old text is refused from now on.'
            : `The old text works until ${timeText(until)}.`
        return { data, notes: [ONCE, old] }
      },
    }),
    delete: verb({
      about: 'Revoke a key for good; the list shows it as revoked',
      details:
        'Webhook subscriptions that the key made belong to the installation and stay active: after a leak, check `svc webhooks list` and delete those that are not yours.',
      calls: [paths.apiKeys.revoke],
      args: { id },
      examples: [`svc keys delete ${EXAMPLE}`, `svc keys delete ${EXAMPLE} --yes`],
      async run({ id }, { client, ui }) {
        await ui.confirm(`Revoke the key ${id}? Its holder is refused from now on; this cannot be undone.`)
        return { data: (await client.apiKeys.revoke({ id })).data, text: `Revoked ${id}.` }
      },
    }),
  },
}
