/** `svc keys`: API keys with their scopes and rate limits. */

import { paths } from '../src/api/paths.ts'
import type { Scope } from '../src/api/route.ts'
import { integer, listOf, type Noun, required, text, verb } from './cli/command.ts'
import { listVerb } from './cli/reads.ts'

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
      },
      examples: [
        'svc keys create --name backend --scopes airdrop:write --per-minute 600',
        'svc keys create --name claims-bot --scopes fees:claim,airdrop:admin --json',
      ],
      async run({ name, scopes, per_minute, per_day }, { client }) {
        const { data } = await client.apiKeys.create({
          name,
          ...(scopes === undefined ? {} : { scopes }),
          ...(per_minute === undefined ? {} : { rate_limit_per_minute: per_minute }),
          ...(per_day === undefined ? {} : { rate_limit_per_day: per_day }),
        })
        return { data, notes: ['The key is shown only once; keep it in a file that only you can read (chmod 600).'] }
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
      ],
      call: (client, query) => client.apiKeys.list(query),
    }),
    delete: verb({
      about: 'Revoke a key for good; the list shows it as revoked',
      details:
        'Webhook subscriptions that the key made belong to the installation and stay active: after a leak, check `svc webhooks list` and delete those that are not yours.',
      calls: [paths.apiKeys.revoke],
      args: { id: required(text('Id of the key')) },
      examples: ['svc keys delete key_7vQ2mXr9LdT4sYb1WnGe6KpA', 'svc keys delete key_7vQ2mXr9LdT4sYb1WnGe6KpA --yes'],
      async run({ id }, { client, ui }) {
        await ui.confirm(`Revoke the key ${id}? Its holder is refused from now on; this cannot be undone.`)
        return { data: (await client.apiKeys.revoke({ id })).data, text: `Revoked ${id}.` }
      },
    }),
  },
}
