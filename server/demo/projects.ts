/** What the demo's organization proposes to each kind of place, and what from its catalog goes into it. */

export type Project = {
  /** Title → the SKU of what such a proposal cannot be without. */
  titles: Readonly<Record<string, string>>;
  /** What else may be in it. */
  skus: readonly string[];
};

/** Almost everything begins with a talk and a survey. */
const beside = (skus: string) => `DES-CONSULT DES-SURVEY DES-SURVEY-EU DES-SURVEY-UK DES-SURVEY-JP ${skus}`.split(' ');

const projects: Readonly<Record<string, Project>> = {
  hospitality: {
    titles: {
      'Café seating and counter lighting': 'JOI-BANQ',
      'New banquettes for the dining room': 'JOI-BANQ',
      'Counter rebuild before the summer season': 'JOI-COUNTER',
      'Back bar and bottle shelving': 'JOI-SHELF',
      'A quieter dining room': 'FIN-ACOU',
      'Kitchen pass and serving station': 'JOI-SHELF',
      'Evening lighting for the terrace': 'LIG-PEND',
      'Second room: seating for twenty-four': 'JOI-BANQ',
    },
    skus: beside(
      'DES-LIGHT JOI-BANQ JOI-COUNTER JOI-SHELF LIG-PEND LIG-CABLE LIG-WASHI FIN-ACOU FIN-TILE-EU FUR-STOOL INS-CREW INS-ELEC',
    ),
  },
  office: {
    titles: {
      'Reception and two meeting rooms': 'JOI-COUNTER',
      'Quiet rooms on the second floor': 'JOI-DOOR',
      'Desk layout for forty people': 'DES-DRAW',
      'Acoustic treatment of the open office': 'FIN-ACOU',
      'Kitchenette and break area': 'INS-CREW',
      'Lobby relighting': 'LIG-LINEAR',
      'Focus booths along the north wall': 'JOI-DOOR',
      'Boardroom table and lighting': 'FUR-TABLE',
    },
    skus: beside(
      'DES-DRAW DES-PM JOI-COUNTER JOI-DOOR JOI-DESK-EU LIG-LINEAR LIG-CTRL FIN-ACOU FIN-LINO FUR-TABLE INS-CREW INS-NIGHT INS-ELEC',
    ),
  },
  healthcare: {
    titles: {
      'Waiting room refresh': 'FUR-LOUNGE',
      'Treatment rooms 1 to 4': 'FIN-CORK',
      'Check-in desk and sign-posting': 'JOI-COUNTER',
      'Softer light for the recovery area': 'LIG-LINEAR',
      'Play corner in the waiting room': 'JOI-SHELF',
      'Storage wall behind reception': 'JOI-SHELF',
      'Floor and acoustics, first floor': 'FIN-CORK',
    },
    skus: beside(
      'DES-COLOR DES-LIGHT JOI-COUNTER JOI-SHELF JOI-DOOR LIG-LINEAR FIN-CORK FIN-ACOU FUR-LOUNGE INS-CREW INS-DELIV',
    ),
  },
  retail: {
    titles: {
      'Shop fit-out, ground floor': 'JOI-COUNTER',
      'Window display lighting': 'LIG-TRACK',
      'Shelving for the stockroom': 'JOI-SHELF',
      'Till counter and wrapping table': 'JOI-COUNTER',
      'Reading corner by the window': 'JOI-NOOK',
      'Holiday season: display and lighting': 'LIG-TRACK',
      'Track lighting for the whole shop': 'LIG-TRACK',
      'Move to the corner unit: first estimate': 'DES-RENDER',
    },
    skus: beside(
      'DES-RENDER JOI-SHELF JOI-COUNTER JOI-NOOK LIG-TRACK LIG-CTRL LIG-HALO FIN-LIME FIN-PAPER-UK FUR-STOOL INS-CREW INS-ELEC',
    ),
  },
  lodging: {
    titles: {
      'Six guest rooms on the garden side': 'JOI-WARD',
      'Breakfast room relighting': 'LIG-PEND',
      'Lobby and check-in desk': 'FUR-LOUNGE',
      'Two suites under the roof': 'JOI-WARD',
      'Reading lights for every bed': 'LIG-WALL',
      'Bar corner and evening seating': 'FUR-LOUNGE',
    },
    skus: beside(
      'DES-CONCEPT DES-COLOR JOI-WARD JOI-NOOK JOI-TATAMI LIG-WALL LIG-PEND LIG-WASHI FIN-CURT FIN-TILE-EU FIN-PAPER-UK FUR-LOUNGE INS-CREW INS-DELIV',
    ),
  },
  culture: {
    titles: {
      'Children’s reading corner': 'JOI-NOOK',
      'Exhibition lighting, east gallery': 'LIG-TRACK',
      'Study desks for the reading room': 'DES-DRAW',
      'Acoustic panels for the music room': 'FIN-ACOU',
      'Ticket desk and cloakroom': 'JOI-SHELF',
      'Relighting of the permanent collection': 'LIG-TRACK',
    },
    skus: beside(
      'DES-LIGHT DES-DRAW JOI-SHELF JOI-NOOK JOI-DESK-EU LIG-TRACK LIG-CTRL LIG-HALO FIN-ACOU FIN-CORK INS-CREW INS-DELIV',
    ),
  },
  home: {
    titles: {
      'Kitchen cabinets and island': 'JOI-KITCH',
      'Fitted wardrobes, two bedrooms': 'JOI-WARD',
      'Library wall in the living room': 'JOI-SHELF',
      'Lighting for the whole ground floor': 'LIG-PEND',
      'Home office in the garden room': 'JOI-SHELF',
      'Breakfast nook with window seat': 'JOI-NOOK',
      'Hallway bench and coat storage': 'JOI-WARD',
      'Loft bedroom under the eaves': 'JOI-WARD',
      'Limewash and curtains, upstairs': 'FIN-LIME',
    },
    skus: beside(
      'DES-CONCEPT DES-COLOR JOI-KITCH JOI-WARD JOI-SHELF JOI-NOOK JOI-TATAMI LIG-PEND LIG-WALL LIG-WASHI FIN-LIME FIN-CURT FIN-PAPER-UK INS-CREW INS-ELEC',
    ),
  },
};

/** What anyone may ask for. */
export const smallProjects: readonly Project[] = [
  { titles: { 'Concept design and budget': 'DES-CONCEPT' }, skus: beside('DES-COLOR DES-RENDER') },
  { titles: { 'Care plan for the coming year': 'CAR-PLAN' }, skus: ['CAR-VISIT'] },
  { titles: { 'Drawings for the building permit': 'DES-DRAW' }, skus: beside('DES-RENDER DES-PM') },
  {
    titles: { 'Repairs after the water damage': 'FIN-LIME' },
    skus: beside('DES-PM FIN-CORK FIN-CURT INS-CREW INS-DELIV'),
  },
];

export function projectOf(kind: string): Project {
  const project = projects[kind];
  if (!project) throw new Error(`The demo has no project of the kind ${kind}.`);
  return project;
}
