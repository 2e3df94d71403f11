/**
 * What the fields are called in files in English, German, French, Spanish and Dutch, folded to letters and digits; with a
 * kind in front, only in its files.
 */
export const fieldAliases: Readonly<Record<string, string>> = {
  externalId:
    'id no nr number customerid customernumber customerno clientid clientnumber accountnumber kundennummer kundennr kdnr kundenid debitorennummer debitor nummer numero numeroclient numclient codeclient idclient reference ref referenz referencia idcliente numerocliente numerodecliente codigo codigocliente codigodecliente klantnummer klantnr klantid debiteurnummer artikelnummer artikelnr artnr productid productnumber itemid itemnumber itemcode productcode codearticle referencearticle codigoarticulo codigoproducto productnummer artikelcode',
  number:
    'proposalnumber quotenumber estimatenumber offernumber angebotsnummer numerodevis numeropresupuesto offertenummer',
  name: 'name displayname nom nombre naam',
  'customers.name':
    'customername clientname kunde kundenname nomclient client customer cliente nombrecliente klant klantnaam fullname vollername nomcomplet nombrecompleto volledigenaam',
  'items.name':
    'product productname item itemname title bezeichnung artikel artikelbezeichnung artikelname produkt produktname produit nomproduit article designation libelle producto nombreproducto articulo productnaam artikelnaam',
  title: 'titel titre titulo subject betreff objet asunto onderwerp',
  firstName: 'firstname givenname forename vorname rufname prenom primernombre nombredepila voornaam',
  lastName:
    'lastname surname familyname nachname familienname zuname nomdefamille apellido apellidos achternaam familienaam',
  companyName:
    'company companyname organization organisation business firma firmenname unternehmen firmierung societe entreprise raisonsociale nomsociete empresa razonsocial compania nombreempresa bedrijf bedrijfsnaam onderneming firmanaam organizationname organisationname organization1name',
  email:
    'email mail emailaddress mailaddress emailadresse mailadresse courriel adresseemail adressemail adresseelectronique correo correoelectronico direcciondecorreo emailadres mailadres email1value emailwork',
  phone:
    'phone phonenumber telephone telephonenumber tel mobile mobilephone cell telefon telefonnummer telefonnr mobil mobilnummer handy handynummer rufnummer telephoneportable portable numerodetelephone telefono numerodetelefono movil celular telefoon telefoonnummer mobiel phone1value phonework phonenumbers primaryphone homephone',
  'address.line1':
    'street address address1 addressline1 streetaddress billingaddress strasse anschrift adresse strassehausnummer strasseundhausnummer rechnungsadresse rue adresse1 adresseligne1 direccion calle domicilio direccion1 adres straat straatnaam adresregel1 streetaddress1 address1street',
  'address.line2':
    'address2 addressline2 adresszusatz adresse2 complementadresse complement direccion2 adresregel2 street2 streetaddress2 address1extendedaddress',
  'address.city': 'city town ort stadt wohnort ville ciudad poblacion localidad plaats stad woonplaats address1city',
  'address.region':
    'region state province county bundesland kanton departement provincia estado comunidad provincie stateprovince stateregion address1region',
  'address.postalCode':
    'zip zipcode postcode postalcode plz postleitzahl codepostal cp codigopostal zippostalcode address1postalcode',
  'address.country':
    'country countrycode land landescode staat pays codepays pais codigopais landcode countryregion address1country',
  taxId:
    'taxid taxnumber vat vatid vatnumber vatno ustid ustidnr ustidnummer umsatzsteuerid umsatzsteueridentifikationsnummer uid steuernummer numerotva tvaintracommunautaire siret nif cif nifcif idfiscal btw btwnummer btwnr',
  website:
    'website web url homepage webseite internetseite internet siteweb site sitioweb paginaweb webpage website1value',
  notes:
    'notes note comment comments remark remarks notiz notizen bemerkung bemerkungen anmerkung anmerkungen kommentar remarque remarques commentaire commentaires nota notas comentario comentarios observaciones opmerking opmerkingen notitie notities',
  tags: 'tags tag labels label groups group schlagworte stichworte gruppe gruppen etiquette etiquettes groupe etiqueta etiquetas grupo groep groepen categories',
  description:
    'description beschreibung artikelbeschreibung langtext descriptif descripcion omschrijving beschrijving details',
  sku: 'sku articlenumber articleno artikelnummer artikelnr artnr partnumber itemcode productcode codearticle codigo artikelcode referencia reference',
  unitPrice:
    'price unitprice rate salesprice amount preis einzelpreis stueckpreis stuckpreis verkaufspreis vk vkpreis nettopreis preisnetto prix prixunitaire prixdevente prixht tarif precio preciounitario preciodeventa preciounidad prijs stuksprijs eenheidsprijs verkoopprijs tarief',
  currency: 'currency currencycode wahrung waehrung devise monnaie moneda divisa valuta munteenheid',
  unit: 'unit uom einheit mengeneinheit me unite unidad eenheid',
  taxRate:
    'taxrate tax vat vatrate mwst mwstsatz ust ustsatz umsatzsteuer steuersatz steuer tva tauxtva tauxdetva iva tipoiva porcentajeiva btw btwtarief btwpercentage',
  taxable: 'taxable steuerpflichtig imposable soumistva imponible sujetoaiva belastbaar btwplichtig',
  category:
    'category kategorie warengruppe artikelgruppe produktgruppe categorie famille categoria familia productgroep artikelgroep',
  imageUrl: 'image imageurl picture photo bild bildurl foto imagen urlimagen afbeelding',
  type: 'type typ art kind tipo soort',
  status: 'status state zustand statut etat estado toestand',
  createdAt:
    'created createdat createdon datecreated creationdate customersince erstellt erstelltam erstellungsdatum angelegt angelegtam anlagedatum kundeseit cree creele datecreation datedecreation creado creadoel fechacreacion fechadecreacion fechaalta aangemaakt aangemaaktop aanmaakdatum',
};
