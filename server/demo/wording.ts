/** The sentences that people at the demo's organization, and its customers, have written. */

export const customerNotes = [
  'Prefers the phone; best before 9 in the morning.',
  'Deliveries through the back lane only, the street is pedestrian after 10.',
  'Wants samples before every order.',
  'Invoices go to the accountant, not to this address.',
  'Allergic to dogs: do not bring Biscuit to the site.',
  'Met at the open studio in spring.\nAsked about a second location.',
  'Listed building: every change of the front needs a permit.',
  'Decides together with a partner: copy both.',
  'Slow to answer in August.',
  'Paid the last two invoices early.',
  'The freight lift takes 1.9 m at most.',
] as const;

export const sources = ['referral', 'website', 'trade fair', 'open studio', 'walk-in'] as const;

export const proposalNotes = [
  'We can start within three weeks of your go-ahead; installation takes about a week.',
  'Prices hold for the quantities shown. If the survey finds more, we will tell you before we go on.',
  'Thank you for showing us around on Tuesday. This covers everything we discussed, and nothing that we did not.',
  'Samples of the oak and both fabrics are on their way to you.',
  'As agreed, the work is done on your closing days, so that you can stay open.',
] as const;

/** For a proposal that has some. */
export const optionalLinesNote = 'The optional lines can be decided later, up to the day when we order materials.';

export const proposalTerms = [
  'Half on acceptance, half on completion. Net 14 days.',
  'Net 30 days from the date of invoice.',
  '40 % on acceptance, 40 % on delivery, 20 % after the walk-through.\nMade-to-measure pieces cannot be returned.',
  'Payable within 14 days. Two-year warranty on joinery, five on fixings.',
  'Due on completion. Changes after approval of the drawings are charged by the hour.',
] as const;

export const declineReasons = [
  'We went with a local joiner who could start sooner.',
  'Over budget. We may come back to the lighting part next year.',
  'The landlord did not agree to the new wall.',
  'We are moving instead.',
  'Lovely drawings, but we took the cheaper offer.',
  'Please quote again without the extras.',
  'Not now: the boiler comes first.',
  'Two months are too long for us.',
] as const;

/** Work that stands in no catalog, with its price in USD. */
export const extraWork = [
  { name: 'Travel and lodging for the installation week', unit: null, unitPrice: '640.00', quantity: '1' },
  { name: 'Patch and paint after the electrician', unit: 'day', unitPrice: '540.00', quantity: '1.5' },
  { name: 'Template for the curved corner', unit: null, unitPrice: '185.00', quantity: '1' },
  { name: 'Storage of the furniture during the works', unit: 'week', unitPrice: '75.00', quantity: '4' },
  { name: 'Parking permits and street closure', unit: null, unitPrice: '128.40', quantity: '1' },
  { name: 'Removal of the old counter', unit: null, unitPrice: '420.00', quantity: '1' },
  { name: 'Restoring the original door handles', unit: 'each', unitPrice: '64.50', quantity: '6' },
  { name: 'Structural engineer’s statement', unit: null, unitPrice: '780.00', quantity: '1' },
] as const;

/** What is taken off again, in USD. */
export const credits = [
  { name: 'Credit: design fee, paid in advance', unitPrice: '-450.00' },
  { name: 'Credit: sample chairs returned', unitPrice: '-238.75' },
  { name: 'Credit for the late delivery in spring', unitPrice: '-150.00' },
] as const;
