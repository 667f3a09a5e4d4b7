/** Settings of webhooks. */
import { define } from '../setting.ts'

export const webhooksSettings = define({
  'webhooks.allow-private': {
    kind: 'boolean',
    default: false,
    about: 'Allow http and private addresses as webhook receivers (development only)',
    project: 'it gives access to the network behind this machine',
    reload: true,
  },
  'webhooks.max-per-key': {
    kind: 'integer',
    default: 100,
    min: 1,
    max: 100_000,
    about: 'Most webhook subscriptions of an API key; a key with * has no separate limit',
    project: 'it limits what API keys may do',
    reload: true,
  },
  'webhooks.max': {
    kind: 'integer',
    default: 10_000,
    min: 1,
    max: 1_000_000,
    about: 'Most webhook subscriptions of this installation',
    project: 'it limits what API keys may do',
    reload: true,
  },
  'webhooks.ports': {
    kind: 'list',
    default: ['443', '8443'],
    about: 'Ports that webhook receivers may use; with webhooks.allow-private any port is allowed',
    project: 'it gives access to the network behind this machine',
    reload: true,
  },
})
