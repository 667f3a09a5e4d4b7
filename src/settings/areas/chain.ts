/** Settings of the chain: its nodes, fees and prices. */
import { define } from '../setting.ts'

export const chainSettings = define({
  url: {
    kind: 'string',
    projectChoicesReason: 'the effect of a transaction is read from that node before it is signed',
    urlOr: ['embedded', 'mainnet-beta', 'm', 'devnet', 'd', 'testnet', 't', 'localhost', 'l'],
    private: true,
    about:
      'Cluster: embedded, mainnet-beta (m), devnet (d), testnet (t), localhost (l) or an RPC URL (default: the setting of the Solana CLI, otherwise embedded)',
    project: true,
  },
  'rpc-urls': {
    kind: 'endpoints',
    private: true,
    about:
      'Several RPC endpoints of one cluster instead of one `url`: URLs separated by commas, or JSON with weights and headers (docs/nodes.md)',
    project: 'the effect of a transaction is read from those nodes before it is signed',
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
    about: 'Port of the embedded chain (its WebSocket is on the next one); 0 takes any free port',
    project: true,
  },
  'rpc-host': {
    kind: 'string',
    default: '127.0.0.1',
    about: 'Address that the embedded chain listens on; any client that reaches it can change its clock and balances',
    project: 'it decides who can reach this machine',
  },
  consensus: {
    kind: 'string',
    choices: ['alpenglow', 'tower'],
    about:
      'Consensus of the embedded chain: alpenglow or tower (default: its own; a new chain has that of the program cache, otherwise alpenglow). A chain on Alpenglow stays there',
    project: 'an embedded chain that goes to Alpenglow stays there for good',
  },
  'programs-dir': {
    kind: 'string',
    about: 'Program cache of the embedded chain (default: svc/programs in the XDG cache folder)',
    path: 'folder',
    project: 'programs are loaded from there and written there',
  },
  'priority-fee': {
    kind: 'string',
    default: 'auto',
    // Nineteen digits always fit into the 64 bits of the instruction's field.
    pattern: { is: /^(?:auto|none|\d{1,19})$/, about: 'auto, none or micro-lamports per compute unit in digits' },
    about: 'Priority fee of built transactions: auto (from recent fees), none, or micro-lamports per compute unit',
    project: 'it decides what a transaction pays',
    reload: true,
  },
  'priority-fee-cap': {
    kind: 'integer',
    default: 1_000_000,
    min: 0,
    about: 'Most lamports of priority fee for one transaction',
    project: 'it decides what a transaction pays',
    reload: true,
  },
  'relay-url': {
    kind: 'string',
    urlOr: [],
    private: true,
    about: 'Jito block engine that receives bundles; the embedded chain has its own',
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
    about: 'Most calls to the node per minute to find what other tools did to followed accounts; 0 for none',
    project: 'with 0, nothing that is done past this service is found',
    reload: true,
  },
  'relay-tip': {
    kind: 'integer',
    default: 10_000,
    min: 0,
    max: 100_000_000,
    about: 'Lamports that the last transaction of a launch pays to the relay, if relay-url is set',
    project: 'it decides what a transaction pays',
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
    about: 'Path of the price in that document, like data.SOL.usd',
    project: 'it decides which price is read',
  },
})
