/** The demo's catalog: a studio that designs, builds and lights rooms. No tax rate means that it is not taxed. */
import { readTable } from './table.ts';

const columns = [
  'type',
  'category',
  'sku',
  'name',
  'unitPrice',
  'currency',
  'unit',
  'taxRate',
  'status',
  'description',
] as const;

export const itemTable = readTable(
  columns,
  `
service | Design | DES-CONSULT | Design consultation | 125.00 | USD | hour | | active | At your place or on a call, with notes afterwards.
service | Design | DES-SURVEY | Measured site survey | 680.00 | USD | each | | active | Laser survey, floor plan and photographs, within a week.
service | Design | DES-SURVEY-EU | Measured site survey, Europe | 590.00 | EUR | survey | 19 | active | Laser survey, floor plan and photographs; travel included.
service | Design | DES-SURVEY-UK | Measured site survey, UK | 520.00 | GBP | survey | 20 | active | Laser survey, floor plan and photographs; travel included.
service | Design | DES-SURVEY-JP | 現地採寸・調査 | 88000 | JPY | survey | 10 | active | 採寸、平面図作成、写真撮影を含みます。
service | Design | DES-CONCEPT | Concept package | 2400.00 | USD | each | | active | Two directions with mood, materials, rough layout and a budget range.
service | Design | DES-DRAW | Construction drawings | 3.75 | USD | sq ft | | active | What the builder needs: plans, sections, details, schedules.
service | Design | DES-LIGHT | Lighting plan | 0.8750 | USD | sq ft | | active | Positions, light levels, circuits and scenes.
service | Design | DES-RENDER | Rendering | 350.00 | USD | each | | active | One view, two rounds of changes.
service | Design | DES-COLOR | Color and material study | 900.00 | USD | each | | active | A sample board that you keep.
service | Design | DES-PM | Project management | 110.00 | USD | hour | | active | Trades, deliveries and the weekly walk on site.
product | Joinery | JOI-SHELF | Oak wall shelving | 148.00 | USD | linear ft | 8.25 | active | Solid white oak, hidden fixings, oiled.
product | Joinery | JOI-BANQ | Upholstered banquette | 310.00 | USD | linear ft | 8.25 | active | Birch frame, removable covers, wipeable fabric.
product | Joinery | JOI-COUNTER | Reception counter in walnut veneer | 4850.00 | USD | each | 8.25 | active | With a lowered section and cable management.
product | Joinery | JOI-KITCH | Kitchen cabinet run | 640.00 | USD | linear ft | 8.25 | active | Painted fronts, birch plywood boxes, soft-close drawers.
product | Joinery | JOI-WARD | Fitted wardrobe | 520.00 | USD | linear ft | 8.25 | active | To the ceiling, with inside lighting.
product | Joinery | JOI-NOOK | Window seat with drawers | 1650.00 | USD | each | 8.25 | active | Cushion included.
product | Joinery | JOI-DOOR | Acoustic sliding door | 1890.00 | USD | each | 8.25 | active | Rated 38 dB, soft close on both sides.
product | Joinery | JOI-DESK-EU | Height-adjustable desk, oak top | 780.00 | EUR | each | 19 | active | 160 × 80 cm, two motors, cable tray.
product | Joinery | JOI-TATAMI | 収納付き小上がり畳 | 186000 | JPY | each | 10 | active | 国産い草の畳三枚と引き出し三杯。
product | Lighting | LIG-PEND | Linen drum pendant, 60 cm | 265.00 | USD | each | 8.25 | active | Natural or charcoal linen; lamp included.
product | Lighting | LIG-TRACK | Track spotlight, 12 W | 74.50 | USD | each | 8.25 | active | 2700 K, CRI 95, 36 degrees.
product | Lighting | LIG-LINEAR | Recessed linear light | 38.25 | USD | ft | 8.25 | active | Cut to length, dimmable.
product | Lighting | LIG-WALL | Brass wall light | 142.00 | USD | each | 8.25 | active | Unlacquered: it will age with the room.
product | Lighting | LIG-CTRL | Dimming control, four zones | 415.00 | USD | each | 8.25 | active | Wall panel and four scenes, programmed on site.
product | Lighting | LIG-CABLE | Textile-covered cable | 0.8450 | USD | ft | 8.25 | active | Three cores; black, linen or rust.
product | Lighting | LIG-WASHI | 和紙ペンダントライト | 32000 | JPY | each | 10 | active | 手漉き和紙、直径45cm。
product | Lighting | LIG-HALO | Halogen picture light | 118.00 | USD | each | 8.25 | archived | No longer made; spare lamps while they last.
product | Finishes | FIN-LIME | Limewash, two coats | 2.1875 | USD | sq ft | 8.25 | active | Mixed to the agreed color, with one test wall.
product | Finishes | FIN-CORK | Cork floor, sealed | 11.40 | USD | sq ft | 8.25 | active | Ten millimetres, with underlay.
product | Finishes | FIN-ACOU | Felt acoustic panel, 4 × 2 ft | 96.00 | USD | each | 8.25 | active | Eleven colors; sound absorption class A.
product | Finishes | FIN-CURT | Wool curtain, lined | 380.00 | USD | panel | 8.25 | active | Wave heading, track not included.
product | Finishes | FIN-TILE-EU | Hand-glazed wall tile | 84.50 | EUR | m² | 19 | active | 13 × 13 cm; every batch differs a little.
product | Finishes | FIN-PAPER-UK | Hand-printed wallpaper | 96.00 | GBP | roll | 20 | active | Ten metres, paste-the-wall.
product | Finishes | FIN-LINO | Linoleum sheet | 5.60 | USD | sq ft | 8.25 | archived | Replaced by the cork floor.
product | Furniture | FUR-STOOL | Ash counter stool | 245.00 | USD | each | 8.25 | active | Woven paper-cord seat, 26 inches.
product | Furniture | FUR-TABLE | Meeting table, seats eight | 2150.00 | USD | each | 8.25 | active | Linoleum top, ash legs, power in the middle.
product | Furniture | FUR-LOUNGE | Lounge chair in wool | 890.00 | USD | each | 8.25 | active | Fabric from our sample book, group B.
service | Installation | INS-CREW | Installation crew of two | 1180.00 | USD | day | | active | Tools, dust protection and cleaning included.
service | Installation | INS-ELEC | Licensed electrician | 98.00 | USD | hour | | active | Permit and inspection included.
service | Installation | INS-DELIV | Delivery and placement | 260.00 | USD | each | | active | To the room, packaging taken back.
service | Installation | INS-NIGHT | Night-shift surcharge | 340.00 | USD | day | | archived | For work between 8 pm and 6 am.
service | Care | CAR-PLAN | Care plan | 145.00 | USD | month | | active | Two visits a year, spare lamps, touch-ups within five days.
service | Care | CAR-VISIT | Lamp and finish check | 220.00 | USD | visit | | active | A written report with photographs.
`,
);
