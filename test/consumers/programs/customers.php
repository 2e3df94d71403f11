<?php
/** Creates, updates and lists customers with the generated library in a folder. */

namespace GuzzleHttp\Psr7 {
    // The library was generated for Guzzle 6; in Debian's, this function is a method.
    function build_query(array $parameters): string
    {
        return Query::build($parameters);
    }
}

namespace {
    use OpenAPI\Client\Api\CustomersApi;
    use OpenAPI\Client\ApiException;
    use OpenAPI\Client\Configuration;
    use OpenAPI\Client\Model\{AddressInput, CustomerCreate, CustomerUpdate};

    error_reporting(E_ALL & ~E_DEPRECATED);
    require '/usr/share/php/GuzzleHttp/autoload.php';
    spl_autoload_register(function (string $class) use ($argv): void {
        $file = "$argv[1]/lib/" . strtr(substr($class, strlen('OpenAPI\Client\\')), '\\', '/') . '.php';
        if (str_starts_with($class, 'OpenAPI\Client\\')) require $file;
    });

    $configuration = (new Configuration())->setHost(getenv('API_URL'));
    $configuration->setApiKey('Authorization', getenv('API_KEY'))->setApiKeyPrefix('Authorization', 'Bearer');
    $api = new CustomersApi(new GuzzleHttp\Client(), $configuration);
    $address = new AddressInput(['city' => 'Lisboa']);
    $made = $api->createCustomer(new CustomerCreate(['name' => 'Ana', 'tags' => ['vip'], 'address' => $address]));
    $updated = $api->updateCustomer($made->getId(), new CustomerUpdate(['notes' => 'Met at the fair.']));
    $first = $api->listCustomers(1, null, '-createdAt');
    $second = $api->listCustomers(1, $first->getPagination()->getNextCursor());
    try {
        $api->createCustomer(new CustomerCreate(['email' => 'nobody']));
    } catch (ApiException $error) {
        $refused = json_decode($error->getResponseBody())->code;
    }
    $names = array_map(fn($customer) => $customer->getName(), [...$first->getData(), ...$second->getData()]);
    $city = $updated->getAddress()->getCity();
    echo json_encode(['id' => $made->getId(), 'city' => $city, 'names' => $names, 'refused' => $refused ?? null]);
}
