/**
 * The demo's customers. Numbers are of the ranges that are kept for fiction where a country has them, and every e-mail
 * address is of the domain that nobody can own. The first tag is the kind of place that is furnished.
 */
import { readTable } from './table.ts';

const columns = [
  'country',
  'firstName',
  'lastName',
  'companyName',
  'email',
  'phone',
  'line1',
  'line2',
  'city',
  'region',
  'postalCode',
  'tags',
] as const;

export const customerTable = readTable(
  columns,
  `
US | Hannah | Whitlock | Copperleaf Coffee Roasters | hannah@copperleafroasters.example | +1 503-555-0142 | 418 SE Alder Street | | Portland | OR | 97214 | hospitality, repeat
US | Marcus | Bell | Bell & Daughters Bakery | marcus@bellanddaughters.example | (312) 555-0117 | 2209 W Chicago Avenue | | Chicago | IL | 60622 | hospitality
US | Renée | Fontenot | Bayou Children’s Dental | renee@bayouchildrensdental.example | (504) 555-0163 | 731 Magazine Street | Suite 2B | New Orleans | LA | 70130 | healthcare
US | | | Osprey Point Credit Union | facilities@ospreypointcu.example | +1 757-555-0110 | 90 Harbor Way | Floor 3 | Norfolk | VA | 23510 | office, net-30
US | Diego | Santamaría | Cottonwood Yoga Collective | diego@cottonwoodyoga.example | 505.555.0188 | 1420 Canyon Road | | Santa Fe | NM | 87501 | healthcare
US | Priscilla | Okafor | | priscilla.okafor@mailbox.example | +1 713-555-0126 | 5518 Mandell Street | | Houston | TX | 77005 | home, referral
US | Theodore | Lindgren | | teddy.lindgren@mailbox.example | 612-555-0171 | 3847 Fremont Avenue S | | Minneapolis | MN | 55409 | home
US | Grace | Nakamura-Boyd | Juniper & Slate Bookshop | grace@juniperandslate.example | +1 206-555-0139 | 1612 N 45th Street | | Seattle | WA | 98103 | retail, repeat
US | Omar | Haddad | Haddad Rug Gallery | omar@haddadrugs.example | (313) 555-0104 | 4470 Cass Avenue | | Detroit | MI | 48201 | retail
US | Lucille | Barrow | The Barrow House Inn | stay@barrowhouseinn.example | +1 802-555-0155 | 27 Elm Street | | Woodstock | VT | 05091 | lodging, vip
US | Andre | Castellano | Fieldmark Architects | andre@fieldmark.example | 718-555-0198 | 63 Flushing Avenue | Unit 214 | Brooklyn | NY | 11205 | office, partner
US | Mei-Ling | Chow | | meiling.chow@mailbox.example | +1 415-555-0107 | 844 Noriega Street | | San Francisco | CA | 94122 | home, vip
US | Walter | Prentiss | Prentiss County Library | w.prentiss@prentisslibrary.example | (859) 555-0130 | 12 Courthouse Square | | Danville | KY | 40422 | culture, net-60
US | Sofia | Delgado | Sunhouse Pediatrics | office@sunhousepediatrics.example | +1 602-555-0183 | 2930 E Camelback Road | Suite 110 | Phoenix | AZ | 85016 | healthcare, net-30
CA | Élise | Tremblay | Atelier du Vieux-Port | elise@atelierduvieuxport.example | +1 514-555-0121 | 355 rue de la Commune Ouest | | Montréal | QC | H2Y 2E2 | office
CA | Gordon | MacAskill | | gordon.macaskill@mailbox.example | +1 902-555-0148 | 71 Bluenose Lane | | Halifax | NS | B3H 1G4 | home
CA | | | Cedar & Salt Oyster Room | hello@cedarandsalt.example | +1 604-555-0165 | 1128 Mainland Street | | Vancouver | BC | V6B 5L1 | hospitality, repeat
MX | Ximena | Arriaga Peña | Casa Jacaranda Hotel | ximena@casajacaranda.example | +52 55 5550 0134 | Calle Orizaba 87 | Col. Roma Norte | Ciudad de México | CDMX | 06700 | lodging
BR | João Pedro | Gonçalves | Livraria Três Rios | joao@tresrios.example | +55 11 5550-0177 | Rua Harmonia, 412 | | São Paulo | SP | 05435-000 | retail
AU | Imogen | Farrell | Saltbush Physio | imogen@saltbushphysio.example | +61 3 5550 0192 | 208 Sydney Road | | Brunswick | VIC | 3056 | healthcare
AU | Callum | O’Rourke | | callum.orourke@mailbox.example | (02) 5550 0119 | 14 Wentworth Road | | Katoomba | NSW | 2780 | home
KR | 서연 | 김 | 달빛서점 | seoyeon@dalbit-books.example | +82 2-555-0116 | 연희로 45 | 2층 | 서울 | 서대문구 | 03723 | retail
TW | 怡君 | 陳 | 山嵐茶室 | yichun@shanlan-tea.example | +886 2 5550 0181 | 永康街 31 巷 6 號 | | 臺北市 | 大安區 | 106 | hospitality, referral
JP | 美咲 | 佐藤 | 株式会社みなとや珈琲 | misaki.sato@minatoya-coffee.example | +81 3-5550-0143 | 神宮前3-12-8 | 青葉ビル 2F | 渋谷区 | 東京都 | 150-0001 | hospitality, repeat
JP | 健一 | 高橋 | 旅館 花霞 | takahashi@hanagasumi.example | 075-555-0129 | 祇園町南側570-12 | | 京都市東山区 | 京都府 | 605-0074 | lodging, vip, repeat
JP | 陽子 | 小林 | 小林小児科クリニック | yoko@kobayashi-clinic.example | +81 6-5550-0178 | 北堀江1-6-4 | | 大阪市西区 | 大阪府 | 550-0014 | healthcare
JP | 翔太 | 渡辺 | | shota.watanabe@mailbox.example | 090-5550-0162 | 大名2-9-31 | | 福岡市中央区 | 福岡県 | 810-0041 | home
JP | | | 株式会社オフィス月舟 | soumu@tsukifune.example | +81 52-555-0105 | 栄3-18-1 | 8F | 名古屋市中区 | 愛知県 | 460-0008 | office, net-60
GB | Alistair | Penhaligon | Penhaligon & Rowe Solicitors | alistair@penhaligonrowe.example | +44 20 7946 0152 | 19 Bedford Row | | London | | WC1R 4EB | office, net-30
GB | Siân | Llewellyn | Oriel Craig Gallery | sian@orielcraig.example | 029 2018 0136 | 6 Bute Crescent | | Cardiff | | CF10 5AN | culture
GB | Farhana | Choudhury | Two Lanterns Kitchen | farhana@twolanterns.example | +44 161 496 0187 | 58 Tib Street | | Manchester | | M4 1LG | hospitality, repeat
GB | Rory | Mac an tSaoir | | rory.macantsaoir@mailbox.example | 0131 496 0114 | 22/3 Leith Walk | | Edinburgh | | EH6 5AA | home
GB | Beatrice | Ashdown | The Old Tannery Rooms | bea@oldtanneryrooms.example | +44 117 496 0169 | 4 Redcliffe Parade | | Bristol | | BS1 6SP | lodging
GB | | | Harrow Lane Primary School | bursar@harrowlaneprimary.example | 0113 496 0123 | Harrow Lane | | Leeds | West Yorkshire | LS6 2AB | culture, net-30
GB | Nigel | Thistlewood | | nigel@thistlewood.example | +44 1632 960175 | The Old Forge, Church Lane | | Alnwick | Northumberland | NE66 1XY | home, referral
GB | Chidi | Eze | Ledger Street Cycles | chidi@ledgerstreetcycles.example | 0121 496 0190 | 33 Floodgate Street | | Birmingham | | B5 5SL | retail
IE | Aoife | Ní Bhriain | An Siopa Leabhar Beag | aoife@siopaleabharbeag.example | 020 918 0141 | 11 Shop Street | | Galway | Co. Galway | H91 X2Y7 | retail
DE | Katharina | Vogelsang | Buchhandlung Vogelsang & Söhne | katharina@vogelsang-buch.example | +49 30 23125 142 | Lindenallee 14 | Hinterhaus | Berlin | | 10585 | retail, repeat
DE | Jürgen | Großmann | Großmann Zahnärzte | praxis@grossmann-zahn.example | 0221 4710 157 | Brüsseler Straße 63 | | Köln | NRW | 50672 | healthcare, net-30
DE | Anke | Müller-Behrens | | anke.mb@mailbox.example | +49 40 66969 118 | Övelgönne 27 | | Hamburg | | 22605 | home
DE | | | Kantine Werk Neun GmbH | einkauf@werkneun.example | 069 90009 134 | Hanauer Landstraße 211 | Halle 9 | Frankfurt am Main | | 60314 | hospitality, net-30
DE | Björn | Weiß | Weiß & Partner Steuerberater | b.weiss@weiss-partner.example | +49 89 99998 161 | Türkenstraße 52 | 3. OG | München | Bayern | 80799 | office
AT | Magdalena | Höllriegl | Gasthof Höllriegl | magda@gasthof-hoellriegl.example | +43 512 5550 127 | Dorfplatz 3 | | Alpbach | Tirol | 6236 | lodging, repeat
CH | Reto | Aeschbacher | Aeschbacher Uhren-Atelier | reto@aeschbacher-atelier.example | +41 31 555 01 84 | Gerechtigkeitsgasse 40 | | Bern | BE | 3011 | retail, vip
FR | Clémence | Dubois-Lefèvre | Maison Lefèvre Fleurs | clemence@maisonlefevre.example | 01 99 00 41 36 | 18 rue des Martyrs | | Paris | Île-de-France | 75009 | retail
FR | Mathieu | Garrigues | Cave du Bout du Quai | mathieu@boutduquai.example | +33 5 36 49 12 71 | 7 quai des Chartrons | | Bordeaux | | 33000 | hospitality, repeat
FR | Noémie | Bellanger | | noemie.bellanger@mailbox.example | 06 39 98 20 15 | 42 montée de la Grande-Côte | | Lyon | | 69001 | home
FR | | | Médiathèque des Tilleuls | contact@mediatheque-tilleuls.example | +33 3 53 01 88 40 | 2 place de l’Hôtel-de-Ville | | Épernay | Grand Est | 51200 | culture, net-60
ES | Íñigo | Echeverría | Taberna Itsasalde | inigo@itsasalde.example | +34 943 555 014 | Calle del Puerto 9 | Bajo | Donostia | Gipuzkoa | 20003 | hospitality
ES | Núria | Puigdomènech | Estudi Puigdomènech | nuria@estudipuig.example | +34 93 555 01 27 | Carrer de Verdi 88 | 2º 1ª | Barcelona | | 08012 | office, partner
ES | Rocío | Muñoz Ibáñez | | rocio.munoz@mailbox.example | 954 555 018 | Calle Feria 120 | | Sevilla | | 41002 | home
PT | Inês | Guimarães | Pousada do Limoeiro | ines@pousadadolimoeiro.example | +351 21 555 0133 | Rua das Flores 71 | | Lisboa | | 1200-195 | lodging
IT | Niccolò | Bevilacqua | Libreria del Pozzo | niccolo@libreriadelpozzo.example | +39 055 555 0146 | Via dei Serragli 28/r | | Firenze | FI | 50124 | retail
IT | Chiara | D’Angelo | | chiara.dangelo@mailbox.example | +39 011 555 0158 | Corso Casale 15 | Scala B | Torino | TO | 10131 | home
NL | Sanne | van den Heuvel | Fysiotherapie De Singel | sanne@fysiodesingel.example | +31 30 555 0172 | Oudegracht 341 | | Utrecht | | 3511 PE | healthcare
NL | Joost | ter Haar | Ter Haar & Zn. Notarissen | joost@terhaarnotarissen.example | +31 10 555 0109 | Wijnhaven 60 | | Rotterdam | | 3011 WR | office, net-30
SE | Åsa | Öberg | Kafé Norrsken | asa@kafenorrsken.example | 08-465 004 12 | Södermannagatan 24 | | Stockholm | | 116 40 | hospitality
PL | Łukasz | Wiśniewski | Muzeum Rzeki | lukasz@muzeumrzeki.example | +48 12 555 01 64 | ul. Józefa 18 | | Kraków | małopolskie | 31-056 | culture
HU | Zsófia | Szűcs | Szűcs Kézműves Pékség | zsofia@szucspekseg.example | +36 1 555 0191 | Ráday utca 31 | fsz. 2 | Budapest | | 1092 | hospitality
US | Dolores | Quintana | | dolores.quintana@mailbox.example | +1 210-555-0174 | 117 King William Street | | San Antonio | TX | 78204 | home
US | Jae | Whitehorse | Red Mesa Cultural Center | jae@redmesacenter.example | 928-555-0112 | 300 N Verde Street | | Flagstaff | AZ | 86001 | culture
`,
);
