/** Settings of single resources: pools, gold locks, NFTs, stakes. */
import { define } from '../setting.ts'

export const resourcesSettings = define({
  'pools.presets': {
    kind: 'string',
    about: 'JSON file with named curves in addition to the built-in `standard`',
    path: 'file',
    project: 'it decides how a launch divides its money',
  },
  'pools.preset': {
    kind: 'string',
    default: 'standard',
    about: 'Default curve of a new pool',
    project: true,
  },
  'pools.pending-minutes': {
    kind: 'integer',
    default: 30,
    min: 1,
    max: 10_080,
    about: 'How long after the end of its last transaction a pool that is not on chain counts as failed',
    project: true,
    reload: true,
  },
  'pools.ticker-cooldown-hours': {
    kind: 'integer',
    default: 24,
    min: 0,
    max: 8_760,
    about: 'How long a pool that did not fail reserves its ticker; 0 for no reservation',
    project: true,
    reload: true,
  },
  'pools.crank': {
    kind: 'boolean',
    default: false,
    about: 'Let the platform wallet send the migration transactions of full curves',
    project: 'the platform wallet pays for it',
    reload: true,
  },
  'gold.mint': {
    kind: 'string',
    pattern: { is: /^[1-9A-HJ-NP-Za-km-z]{32,44}$/, about: 'a base58 address' },
    about: 'Mint of the gold token that wallets can lock',
    project: 'it decides which tokens wallets lock',
  },
  'nfts.cosign-collections': {
    kind: 'list',
    default: [],
    pattern: { is: /^[1-9A-HJ-NP-Za-km-z]{32,44}$/, about: 'base58 addresses' },
    about: 'Collections for which the platform wallet co-signs mints, as update authority or delegate',
    project: 'the platform wallet signs for them',
  },
  'stakes.freeze-authority': {
    kind: 'string',
    default: 'owner',
    choices: ['owner', 'platform'],
    about:
      'Who can release a stake: its owner, or platform: the owner and the platform wallet together (its key must never be lost)',
    project: 'it decides who can release a stake',
  },
})
