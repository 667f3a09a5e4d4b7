/** Settings of the chain: its nodes, fees and prices. */
import { define } from '../setting.ts'

export const chainSettings = define({
  url: {
    kind: 'string',
    projectChoicesReason: 'what a transaction does is read from that node before it is signed',
    urlOr: ['embedded', 'mainnet-beta', 'm', 'devnet', 'd', 'testnet', 't', 'localhost', 'l'],
    private: true,
    about:
      'Cluster: embedded, mainnet-beta (m), devnet (d), testnet (t), localhost (l) or an RPC URL (default: what the Solana CLI is set to, else embedded)',
    project: true,
  },
  'rpc-urls': {
    kind: 'endpoints',
    private: true,
    about:
      'Several RPC endpoints of one cluster in place of one `url`: URLs with commas between, or JSON with weights and headers (docs/nodes.md)',
    project: 'what a transaction does is read from those nodes before it is signed',
  },
  'public-rpc-url': {
    kind: 'string',
    urlOr: [],
    about: 'RPC URL that answers show to clients as `rpc_endpoint`',
    project: 'clients send their transactions there',
  },
  'rpc-port': {
    kind: 'integer',
    default: 8899,
    min: 0,
    max: 65534,
    about: 'Port of the embedded chain (its WebSocket is on the next); 0 takes any',
    project: true,
  },
  'rpc-host': {
    kind: 'string',
    default: '127.0.0.1',
    about: 'Address that the embedded chain listens on; whoever reaches it can move its clock and its money',
    project: 'it says who can reach this machine',
  },
  'programs-dir': {
    kind: 'string',
    about: 'Program cache of the embedded chain (default: svc/programs in the XDG cache folder)',
    project: 'programs are run from there and written there',
  },
  'priority-fee': {
    kind: 'string',
    default: 'auto',
    // Nineteen digits always fit into the 64 bits of the instruction's field.
    pattern: { is: /^(?:auto|none|\d{1,19})$/, about: 'auto, none or micro-lamports per compute unit in digits' },
    about: 'Priority fee of built transactions: auto (from recent fees), none, or micro-lamports per compute unit',
    project: 'it says what a transaction pays',
    reload: true,
  },
  'priority-fee-cap': {
    kind: 'integer',
    default: 1_000_000,
    min: 0,
    about: 'Most lamports of priority fee for one transaction',
    project: 'it says what a transaction pays',
    reload: true,
  },
  'relay-url': {
    kind: 'string',
    urlOr: [],
    private: true,
    about: 'Jito block engine that bundles go to; the embedded chain has its own',
    project: 'signed transactions are sent there',
  },
  'metadata-url': {
    kind: 'string',
    urlOr: [],
    private: true,
    about: 'DAS provider (getAsset) that token metadata is read from',
    project: 'its key is sent there',
  },
  'reconciliation.calls-per-minute': {
    kind: 'integer',
    default: 300,
    min: 0,
    max: 60_000,
    about: 'Most calls to the node by which each minute is searched for what was done past this service; 0 for none',
    project: 'with 0, nothing that is done past this service is found',
    reload: true,
  },
  'relay-tip': {
    kind: 'integer',
    default: 10_000,
    min: 0,
    max: 100_000_000,
    about: 'Lamports that the last transaction of a launch pays the relay, where relay-url is set',
    project: 'it says what a transaction pays',
    reload: true,
  },
  'price-url': {
    kind: 'string',
    urlOr: [],
    private: true,
    about: 'URL of a JSON document with the price of SOL in US dollars',
    project: 'its key is sent there',
  },
  'price-field': {
    kind: 'string',
    default: 'price',
    about: 'Where the price stands in that document, like data.SOL.usd',
    project: 'prices are read by it',
  },
})
